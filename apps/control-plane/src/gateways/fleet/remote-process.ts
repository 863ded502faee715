/**
 * The control plane's end of a process in a Dock: separates the frames of its connection into two outputs. The
 * connection is read only while both outputs have room.
 */
import type { Duplex } from 'node:stream'
import { finished, Readable, Writable } from 'node:stream'
import { type Precedence, throttleReading } from '@dock/foundation'
import { encodeFrame, FrameReader, type ProcessEnd, processEnd, writeFrame } from '@dock/host-protocol'
import { HostUnreachable, type RemoteProcess } from '../../modules/hosts/index.ts'

/** Bytes that each output holds for its reader. */
const heldBytes = 64 * 1024

/** `socket` is the accepted connection. */
export function createRemoteProcess(
  id: string,
  socket: Duplex,
  calls: Pick<RemoteProcess, 'resize' | 'signal'>,
  precedence: Precedence,
): RemoteProcess {
  const full = new Set<Readable>()
  const resume = throttleReading(socket, precedence, () => full.size === 0)
  const createOutput = (): Readable => {
    const output: Readable = new Readable({
      highWaterMark: heldBytes,
      read: () => {
        if (full.delete(output)) resume()
      },
      destroy: (error, callback) => {
        if (full.delete(output)) resume()
        callback(error)
      },
    })
    output.on('error', () => undefined)
    return output
  }
  const outputs = { stdout: createOutput(), stderr: createOutput() }
  const stdin = new Writable({
    highWaterMark: heldBytes,
    write: (chunk: Buffer, _encoding, callback) => void writeFrame(socket, 'stdin', [chunk], callback),
    writev: (chunks, callback) => {
      const pieces = chunks.map(({ chunk }) => chunk as Buffer)
      writeFrame(socket, 'stdin', pieces, callback)
    },
    final: (callback) => void socket.write(encodeFrame('end', Buffer.alloc(0)), callback),
  })
  stdin.on('error', () => undefined)

  const { promise: exited, resolve, reject } = Promise.withResolvers<ProcessEnd>()
  exited.catch(() => undefined)
  let end: ProcessEnd | undefined
  const fail = (failure: HostUnreachable): void => {
    reject(failure)
    for (const stream of [outputs.stdout, outputs.stderr, stdin]) stream.destroy(failure)
    socket.destroy()
  }
  const succeed = async (told: ProcessEnd): Promise<void> => {
    end = told
    outputs.stdout.push(null)
    outputs.stderr.push(null)
    await Promise.all([isFinished(outputs.stdout), isFinished(outputs.stderr)])
    resolve(told)
    stdin.destroy()
    socket.destroy()
  }
  const take = (output: Readable, bytes: Buffer): void => {
    if (end || output.destroyed || output.push(bytes)) return
    full.add(output)
    socket.pause()
  }
  // A chunk has the end of one frame and the begin of the next. In two pieces, it would cost its readers twice as much.
  const arrived: Record<keyof typeof outputs, Buffer[]> = { stdout: [], stderr: [] }
  const takeArrived = (): void => {
    for (const name of ['stdout', 'stderr'] as const) {
      const pieces = arrived[name]
      arrived[name] = []
      const [first] = pieces
      if (first) take(outputs[name], pieces.length === 1 ? first : Buffer.concat(pieces))
    }
  }
  const reader = new FrameReader({
    stdout: (bytes) => void arrived.stdout.push(bytes),
    stderr: (bytes) => void arrived.stderr.push(bytes),
    end: (text) => {
      takeArrived()
      void succeed(processEnd.parse(JSON.parse(text)))
    },
  })
  socket.on('data', (chunk: Buffer) => {
    try {
      reader.feed(chunk)
      takeArrived()
    } catch (error) {
      fail(new HostUnreachable('the host broke the protocol of processes', { cause: error }))
    }
  })
  socket.on('error', () => undefined)
  const lose = (): void => {
    if (end) return
    const cause = socket.errored
    fail(
      cause instanceof HostUnreachable
        ? cause
        : new HostUnreachable('the connection to the process broke', { cause }),
    )
  }
  socket.once('end', lose)
  socket.once('close', lose)
  // It may have broken before it was passed to this function.
  if (socket.destroyed) lose()
  return {
    id,
    stdin,
    exited,
    ...outputs,
    ...calls,
    closeStdout: () => {
      outputs.stdout.destroy()
      if (!end && socket.writable) socket.write(encodeFrame('closeStdout', Buffer.alloc(0)))
    },
    hangUp: () => {
      if (!end) fail(new HostUnreachable('the process was left'))
    },
  }
}

const isFinished = (stream: Readable): Promise<void> =>
  new Promise((resolve) => void finished(stream, () => resolve()))
