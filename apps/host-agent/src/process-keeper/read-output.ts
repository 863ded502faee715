/** Sends kept output to a reader, and with `follow` also what is still to come. */
import { type FileHandle, open } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import type { Segment } from './dock-budget.ts'
import type { OutputStream, Reader } from './output-store.ts'

const chunkBytes = 64 * 1024

/**
 * Writes one chunk, and resolves once `target` needs it no more, so that its buffer can be used again. Resolves to false if
 * the reader has gone.
 */
const write = (target: Writable, chunk: Uint8Array): Promise<boolean> =>
  new Promise((resolve) => {
    if (target.destroyed) return resolve(false)
    const onClose = () => resolve(false)
    target.once('close', onClose)
    target.write(chunk, (error) => {
      target.off('close', onClose)
      resolve(!error)
    })
  })

/**
 * Sends the bytes from `from` on. Ends `target` after the last byte: with `follow` when the stream is complete, otherwise
 * when everything that is there has been sent. Destroys `target` if the reader held the stream back for too long, or if the
 * stream ends before `from`. `target` must not use a chunk after its write callback, as a socket or an HTTP response does not.
 */
export async function readOutput(
  output: OutputStream,
  from: number,
  follow: boolean,
  target: Writable,
): Promise<void> {
  const reader: Reader = { position: from, movedAt: performance.now(), end: () => target.destroy() }
  let opened = null as { segment: Segment; file: FileHandle } | null
  const gone = new Promise<void>((resolve) => void target.once('close', resolve))
  const buffer = Buffer.allocUnsafeSlow(chunkBytes)
  output.addReader(reader)
  try {
    while (!target.destroyed) {
      if (reader.position >= output.end) {
        if (!follow || !output.isOpen) break
        await Promise.race([output.changed, gone])
        reader.movedAt = performance.now()
        continue
      }
      const segment = output.segmentAt(reader.position)
      if (opened?.segment !== segment) {
        await opened?.file.close()
        opened = null
        opened = { segment, file: await open(segment.path, 'r') }
      }
      const length = Math.min(chunkBytes, segment.end - reader.position)
      const { bytesRead } = await opened.file.read(buffer, 0, length, reader.position - segment.start)
      if (bytesRead === 0) throw new Error(`${segment.path} is shorter than recorded`)
      if (!(await write(target, buffer.subarray(0, bytesRead)))) return
      reader.position += bytesRead
      reader.movedAt = performance.now()
      output.noteMove()
    }
    // The output has ended before `from`: a response in order would say that everything has been read.
    if (reader.position > output.end) target.destroy()
    else target.end()
  } finally {
    output.removeReader(reader)
    await opened?.file.close()
  }
}
