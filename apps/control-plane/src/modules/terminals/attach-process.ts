/**
 * Terminals that show a kept process instead of a shell of their own. The process lives on when the terminal closes, and
 * several terminals may show the same one.
 */
import { Duplex, PassThrough, type Readable } from 'node:stream'
import type { Clock } from '@dock/foundation'
import { HostRefused, type KeptPlace } from '../hosts/index.ts'
import { exitCodeOf, type TerminalConnection } from './terminal-connection.ts'
import type { AttachHosts } from './terminal-context.ts'
import { noSuchTerminal } from './terminal-words.ts'

/** How long one question for the end of the process waits. It cannot be taken back when the terminal closes. */
const waitMs = 20_000
/** What the process has left behind may hold its output open. Its own last bytes arrive within this time. */
const lastOutputMs = 1_000
/** Input that was typed just before the terminal closed may still arrive. */
const lastInputMs = 10_000

const isGone = (error: unknown): boolean =>
  error instanceof HostRefused && ['not_found', 'not_running', 'stale_generation'].includes(error.code)

/** Throws `not_found` unless the process runs, and has a pty. */
export async function requireAttachable(hosts: AttachHosts, place: KeptPlace): Promise<void> {
  const { end, pty } = await hosts.readKept(place)
  if (end || !pty) throw noSuchTerminal()
}

/** Throws a conflict if the process has not written `offset` bytes. A terminal that waits for them would stay empty. */
const requireWritten = async (hosts: AttachHosts, place: KeptPlace, offset: number): Promise<void> => {
  if (offset === 0) return
  const { end } = (await hosts.readKept(place)).stdout
  if (offset > end) throw new HostRefused('conflict', `the output has ${end} bytes so far`)
}

/**
 * Opens the output of the process from `offset` on. Input is written in the order of arrival, also if several terminals
 * write; it is dropped if the process takes none. Returns the offset of the first byte as `start`.
 */
export async function attachProcess(
  hosts: AttachHosts,
  clock: Clock,
  place: KeptPlace,
  offset: number,
): Promise<TerminalConnection & { start: number }> {
  await requireWritten(hosts, place, offset)
  const { start, body } = await hosts.openKeptOutput({ ...place, stream: 'stdout' }, { offset, follow: true })
  const input = openInput(hosts, clock, place, (error) => stream.destroy(error))
  const outputEnded = new Promise<void>((resolve) => void body.once('end', resolve))
  /** Null until the process has ended: its exit code, and the offset after its last byte. */
  let end: { exitCode: number | null; offset: number } | null = null
  let position = start
  let isOver = false

  const stream = new Duplex({
    read: () => void body.resume(),
    write: input.write,
    destroy: (error, done) => {
      body.destroy()
      input.leave()
      done(error)
    },
  })
  // It may fail before the terminal listens, or after it has closed.
  stream.on('error', () => undefined)
  const finishAtEnd = (): void => {
    if (isOver || !end || (!body.readableEnded && position < end.offset)) return
    isOver = true
    stream.push(null)
  }
  const endWith = (exitCode: number | null, lastOffset: number): void => {
    end = { exitCode, offset: lastOffset }
    finishAtEnd()
  }
  /** The output broke off, or the end of the process cannot be asked for. */
  const fail = async (error: Error): Promise<void> => {
    try {
      const ended = await hosts.readKept(place).then(({ end }) => end?.reason === 'dock_ended', isGone)
      if (ended) return endWith(null, 0)
    } catch {
      // Nobody knows what became of the process.
    }
    if (!isOver) stream.destroy(error)
  }
  const watchEnd = async (): Promise<void> => {
    let process = await hosts.waitForKept(place, { ms: waitMs })
    while (!process.end && !stream.destroyed) process = await hosts.waitForKept(place, { ms: waitMs })
    if (!process.end) return
    if (process.stdout.isOpen) {
      await Promise.race([outputEnded, elapse(clock, lastOutputMs, stream)])
      process = await hosts.readKept(place)
    }
    const { reason } = process.end ?? {}
    const exitCode = process.end && exitCodeOf(process.end)
    if (exitCode === null && reason !== 'dock_ended') throw new Error(`the process ended: ${reason}`)
    endWith(exitCode, process.stdout.end)
  }

  body.on('data', (chunk: Buffer) => {
    position += chunk.length
    if (isOver) return
    if (!stream.push(chunk)) body.pause()
    finishAtEnd()
  })
  body.once('end', finishAtEnd)
  let failure = new Error('the output of the process broke off')
  body.on('error', (error) => {
    failure = error
  })
  body.once('close', () => {
    if (!body.readableEnded && !stream.destroyed) void fail(failure)
  })
  watchEnd().catch(fail)
  return {
    input: stream,
    output: stream,
    start,
    exitCode: async () => end?.exitCode ?? null,
    resize: (size) => hosts.resizeKept(place, size),
    close: () => void stream.destroy(),
  }
}

/** Resolves after this time, or when the stream has closed. */
const elapse = (clock: Clock, ms: number, stream: Duplex): Promise<void> =>
  new Promise((resolve) => {
    const cancel = clock.after(ms, resolve)
    stream.once('close', () => {
      cancel()
      resolve()
    })
  })

type Input = {
  write(chunk: Buffer, encoding: BufferEncoding, done: () => void): void
  /** Sends what was written, and ends. */
  leave(): void
}

/** Sends all input in one request, so that it stays in order. */
const openInput = (
  hosts: AttachHosts,
  clock: Clock,
  place: KeptPlace,
  onLost: (error: Error) => void,
): Input => {
  const bytes = new PassThrough()
  let release = (): void => undefined
  bytes.on('drain', () => release())
  bytes.on('close', () => release())
  bytes.on('error', () => undefined)
  hosts
    .writeKeptInput(place, { offset: 'next' }, bytes satisfies Readable)
    .catch((error: Error) => {
      // The process takes no input, or no longer. It may still have output.
      if (!(error instanceof HostRefused && error.code === 'conflict') && !isGone(error)) onLost(error)
    })
    .finally(() => bytes.destroy())
  return {
    write: (chunk, _encoding, done) => {
      if (bytes.destroyed || bytes.write(chunk)) return done()
      release = () => {
        release = () => undefined
        done()
      }
    },
    leave: () => {
      if (bytes.destroyed) return
      bytes.end()
      bytes.once(
        'close',
        clock.after(lastInputMs, () => bytes.destroy()),
      )
    },
  }
}
