/** Sends an upload to the program that writes it, in frames, with back-pressure and a limit of idleness. */
import type { Writable } from 'node:stream'
import { ServiceError } from '@dock/contract'
import { createUploadBudget, type UploadPace, usualUploadPace } from './upload-budget.ts'

/** The connection to the program broke; what the program answered tells why. */
export class ProgramGone extends Error {}

/** Throws `service_unavailable` after `stallMs`: while the program takes nothing, it is not noticed if the client leaves. */
const awaitRoom = (stream: Writable, stallMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      settle()
      reject(new ServiceError('service_unavailable', { message: 'The Dock took nothing of the upload.' }))
    }, stallMs)
    const settle = (): void => {
      clearTimeout(timer)
      stream.off('drain', onDrain)
      stream.off('close', onClose)
    }
    const onDrain = (): void => {
      settle()
      resolve()
    }
    const onClose = (): void => {
      settle()
      reject(new ProgramGone('its input closed'))
    }
    stream.on('drain', onDrain)
    stream.on('close', onClose)
  })

const frameOf = (bytes: Uint8Array): Buffer => {
  const frame = Buffer.allocUnsafe(4 + bytes.length)
  frame.writeUInt32BE(bytes.length)
  frame.set(bytes, 4)
  return frame
}

/**
 * Sends the body and the empty frame that ends it. Throws {@link ProgramGone}, `validation_error` if the client is idle or
 * leaves before the end, and `service_unavailable` if the program takes nothing for too long. Without the empty frame the program discards what it received.
 */
export async function sendUpload(
  body: ReadableStream<Uint8Array>,
  stdin: Writable,
  pace: UploadPace = usualUploadPace,
): Promise<void> {
  const budget = createUploadBudget(pace)
  const reader = body.getReader()
  const readChunk = () =>
    reader.read().catch((cause: unknown) => {
      throw new ServiceError('validation_error', { message: 'The upload ended early.', cause })
    })
  try {
    for (let next = await budget.wait(readChunk()); !next.done; next = await budget.wait(readChunk())) {
      if (next.value.length === 0) continue
      budget.credit(next.value.length)
      if (stdin.destroyed) throw new ProgramGone('its input closed')
      if (!stdin.write(frameOf(next.value))) await awaitRoom(stdin, pace.stallMs)
    }
    stdin.end(frameOf(new Uint8Array()))
  } finally {
    // Not awaited: it would wait for a read that an idle client never completes.
    reader.cancel().catch(() => undefined)
  }
}
