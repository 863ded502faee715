/** Sends a request over a socket of its own, and leaves it as its ending says. */
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Ending } from './ending.ts'
import type { Random } from './random.ts'
import { bytesOf, type RawRequest } from './raw-request.ts'

/** What a client has heard. `status` is null if it left, or was cut off, before the status line. */
export type Heard = { status: number | null; bytes: number; isStuck?: boolean; said?: string }

/** A response without an end is read for this long. */
const endlessMs = 250
/** A client whose connection stays open waits for so long after the last byte, and is then done. */
const quietMs = 300
/** Far longer than any response takes. */
const stuckMs = 45_000
const keptBytes = 2_000

const isChunked = /\r\ntransfer-encoding: chunked\r\n/i
const lastChunk = '\r\n0\r\n\r\n'

type Reader = {
  socket: Socket
  heard: Heard
  /** Resolves when so many bytes were read, the connection has ended, or no byte came for `silenceMs`. */
  until(bytes: number, silenceMs: number): Promise<'read' | 'ended' | 'silent'>
}

const read = (socket: Socket, frames: readonly Buffer[]): Reader => {
  const heard: Heard = { status: null, bytes: 0 }
  let start = ''
  let last = ''
  let isEnded = false
  let look = (): void => undefined
  const end = (): void => {
    isEnded = true
    look()
  }
  socket.on('data', (piece) => {
    if (start.length < keptBytes) {
      start += piece.toString('latin1', 0, keptBytes)
      heard.status ??= Number(/^HTTP\/1\.1 (\d{3})/.exec(start)?.[1] ?? 0) || null
      heard.said = start
      if (heard.status === 101 && heard.bytes === 0)
        for (const frame of frames) setImmediate(() => socket.writable && socket.write(frame))
    }
    heard.bytes += piece.length
    last = (last + piece.toString('latin1', Math.max(0, piece.length - lastChunk.length))).slice(
      -lastChunk.length,
    )
    // The connection may stay open after a whole response.
    if (last === lastChunk && isChunked.test(start)) isEnded = true
    look()
  })
  socket.on('end', end).on('close', end)
  return {
    ...{ socket, heard },
    until: (bytes, silenceMs) =>
      new Promise((resolve) => {
        let seen = -1
        let timer: NodeJS.Timeout | undefined
        const done = (why: 'read' | 'ended' | 'silent'): void => {
          clearTimeout(timer)
          look = () => undefined
          resolve(why)
        }
        look = () => {
          if (heard.bytes >= bytes) return done('read')
          if (isEnded) return done('ended')
          if (heard.bytes === seen) return
          seen = heard.bytes
          clearTimeout(timer)
          timer = setTimeout(done, silenceMs, 'silent')
        }
        look()
      }),
  }
}

const send = (socket: Socket, bytes: Buffer): void => {
  if (socket.writable) socket.write(bytes)
}

/** Reads so many bytes, or less if no more come. Notes a response that neither goes on nor ends. */
const readOn = async (
  reader: Reader,
  bytes: number,
  { isEndless, staysOpen }: { isEndless: boolean; staysOpen: boolean },
): Promise<void> => {
  const whole = reader.until(bytes, isEndless ? endlessMs : staysOpen ? quietMs : stuckMs)
  // Endless bytes never fall silent.
  const how = await (isEndless ? Promise.race([whole, delay(endlessMs)]) : whole)
  if (how === 'silent' && !isEndless && !staysOpen) reader.heard.isStuck = true
}

/** Makes the exchange. Rejects only if nothing accepts the connection. */
export async function exchange(
  port: number,
  request: RawRequest,
  ending: Ending,
  random: Random,
): Promise<Heard> {
  // A client that announces more than it sends is not answered.
  const isEndless = (request.isEndless === true && !ending.isHead) || request.body?.framing === 'short'
  const closes = !ending.isDoubled && random.chance(0.8)
  const { head, body } = bytesOf(request, random, { isHead: ending.isHead, closes })
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  const refused = new Promise<never>((_, reject) => {
    socket.on('error', (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED' && reject(error))
  })
  refused.catch(() => undefined)
  const reader = read(socket, request.frames ?? [])
  await Promise.race([
    refused,
    new Promise((resolve) => socket.once('connect', resolve).once('close', resolve)),
  ])
  const { cut } = ending
  if (cut?.part === 'head') send(socket, head.subarray(0, Math.floor(head.length * cut.share)))
  else {
    send(socket, head)
    send(socket, cut ? body.subarray(0, Math.floor(body.length * cut.share)) : body)
    if (ending.isDoubled) send(socket, Buffer.concat([head, body]))
  }
  if (ending.readMax > 0 && !cut) {
    // The first byte may take as long as any; a connection that is kept falls silent only after the last one.
    await readOn(reader, 1, { isEndless: request.body?.framing === 'short', staysOpen: false })
    await readOn(reader, ending.readMax, { isEndless, staysOpen: !closes })
  }
  if (ending.pauseMs > 0) {
    socket.pause()
    await delay(ending.pauseMs)
    socket.resume()
  }
  if (ending.last === 'half-close') {
    socket.end()
    await readOn(reader, Number.POSITIVE_INFINITY, { isEndless, staysOpen: false })
  }
  if (ending.last === 'destroy') socket.destroy()
  else socket.resetAndDestroy()
  return reader.heard
}
