/**
 * The control plane's end of a process in a Dock: separates the frames of its connection into two outputs. The
 * connection is read only while both outputs have room.
 */
import type { Duplex } from 'node:stream'
import { finished, Readable, Writable } from 'node:stream'
import { FrameReader, type ProcessEnd, processEnd } from '@dock/host-protocol'
import { HostUnreachable, type RemoteProcess } from '../../modules/hosts/index.ts'
import { toHostFailure } from './translate-failure.ts'

/** Bytes that each output holds for its reader. */
const heldBytes = 64 * 1024

/** `socket` is the accepted connection. */
export function createRemoteProcess(
  id: string,
  socket: Duplex,
  calls: Pick<RemoteProcess, 'resize' | 'signal'>,
): RemoteProcess {
  const full = new Set<Readable>()
  const createOutput = (): Readable => {
    const output: Readable = new Readable({
      highWaterMark: heldBytes,
      read: () => {
        full.delete(output)
        if (full.size === 0) socket.resume()
      },
      destroy: (error, callback) => {
        full.delete(output)
        if (full.size === 0) socket.resume()
        callback(error)
      },
    })
    output.on('error', () => undefined)
    return output
  }
  const outputs = { stdout: createOutput(), stderr: createOutput() }
  const stdin = new Writable({
    write: (chunk: Buffer, _encoding, callback) => void socket.write(chunk, callback),
    writev: (chunks, callback) =>
      void socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), callback),
    final: (callback) => void socket.end(callback),
  })
  stdin.on('error', () => undefined)

  const { promise: exited, resolve, reject } = Promise.withResolvers<ProcessEnd>()
  exited.catch(() => undefined)
  let end: ProcessEnd | undefined
  const fail = (error: unknown): void => {
    const failure = toHostFailure(error)
    reject(failure)
    const cause = failure instanceof Error ? failure : new Error(String(failure))
    for (const stream of [outputs.stdout, outputs.stderr, stdin]) stream.destroy(cause)
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
  const reader = new FrameReader(
    (stream, bytes) => {
      const output = outputs[stream]
      if (end || output.destroyed || output.push(bytes)) return
      full.add(output)
      socket.pause()
    },
    (text) => void succeed(processEnd.parse(JSON.parse(text))),
  )
  socket.on('data', (chunk: Buffer) => {
    try {
      reader.feed(chunk)
    } catch (error) {
      fail(new HostUnreachable('the host broke the protocol of processes', { cause: error }))
    }
  })
  socket.on('error', () => undefined)
  socket.once('close', () => {
    if (end) return
    fail(socket.errored ?? new HostUnreachable('the connection to the process ended'))
  })
  return {
    ...{ id, stdin, exited, ...outputs, ...calls },
    hangUp: () => {
      if (!end) fail(new HostUnreachable('the process was left'))
    },
  }
}

const isFinished = (stream: Readable): Promise<void> =>
  new Promise((resolve) => void finished(stream, () => resolve()))
