/**
 * Talks with one forwarding program in a Dock, which connects and listens there. All that it says is checked: a user of
 * the Dock can replace it.
 */
import type { Duplex } from 'node:stream'
import { limits } from '@dock/contract'
import type { BufferShare } from '@dock/ssh-server'
import type { RemoteProcess } from '../../../modules/hosts/index.ts'
import { createForwardedStream, type ForwardedStream } from './forwarded-stream.ts'
import { createFrameReader, encodeFrame, type Frame, frameType, windowBytes } from './forwarder-frames.ts'

/** The peer of an accepted connection. Unix sockets have none. */
export type Peer = { host: string; port: number }

export type Listener = {
  /** The port, or the path of the socket. */
  shown: string
  close(): void
}

type OnAccepted = (stream: Duplex, peer: Peer) => void

export type Forwarder = {
  connect(host: string, port: number): Promise<Duplex>
  connectUnix(path: string): Promise<Duplex>
  listen(host: string, port: number, onAccepted: OnAccepted): Promise<Listener>
  listenUnix(path: string, onAccepted: OnAccepted): Promise<Listener>
  /** Listens on a socket in a new folder that only the Dock's user can enter. */
  listenAgent(onAccepted: OnAccepted): Promise<Listener>
  /** Ends the program and everything that it holds. */
  end(): void
}

const { forwardedPerConnectionMax, listenersPerConnectionMax } = limits.ssh
const nothing = Buffer.alloc(0)
/** Ids that the program chooses have this bit. */
const acceptedBit = 0x80000000
/** Memory of frames that the program has not taken. Windows bound the data, but a program can make us answer forever. */
const waitingBytesMax = forwardedPerConnectionMax * windowBytes
/** While all connections of the person hold too much, a program that has not taken this much is ended. */
const waitingBytesLow = 2 * windowBytes
/** What a frame costs in memory beside its bytes. */
const frameCostBytes = 256

type Opening = { resolve(shown: string): void; reject(error: Error): void }

/** `onEnd` is called once, when the program has ended for any reason. */
/** Returns the port that the program names, or undefined: a tenant may replace the program. */
export function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port > 0 && port < 65_536 ? port : undefined
}

export function createForwarder(
  program: RemoteProcess,
  personsShare: BufferShare,
  onEnd: () => void,
): Forwarder {
  const streams = new Map<number, ForwardedStream>()
  const opening = new Map<number, Opening>()
  const listeners = new Map<number, OnAccepted>()
  let lastId = 0
  let waitingBytes = 0
  let hasEnded = false
  const share = personsShare.another(() => waitingBytes)

  const send = (type: number, id: number, payload: Buffer = nothing): void => {
    if (hasEnded || !program.stdin.writable) return
    const frame = encodeFrame(type, id, payload)
    const cost = frame.length + frameCostBytes
    waitingBytes += cost
    program.stdin.write(frame, () => {
      waitingBytes -= cost
    })
    if (waitingBytes > waitingBytesMax || (waitingBytes > waitingBytesLow && share.note())) end()
  }
  const end = (): void => {
    if (hasEnded) return
    hasEnded = true
    share.leave()
    program.hangUp()
    const gone = new Error('the forwarding program has ended')
    for (const { reject } of opening.values()) reject(gone)
    for (const { stream } of [...streams.values()]) stream.destroy(gone)
    onEnd()
  }
  const addStream = (id: number): Duplex => {
    const forwarded = createForwardedStream(
      (type, payload) => send(type, id, payload),
      () => streams.delete(id),
    )
    // A stream that fails is closed. Its user learns it from `close`.
    forwarded.stream.on('error', () => undefined)
    streams.set(id, forwarded)
    return forwarded.stream
  }
  const accept = (id: number, payload: Buffer): void => {
    const onAccepted = payload.length >= 4 ? listeners.get(payload.readUInt32BE()) : undefined
    if (id < acceptedBit || streams.has(id)) throw new Error('a wrong id')
    if (!onAccepted || streams.size >= forwardedPerConnectionMax) {
      send(frameType.close, id)
      return
    }
    const [host = '', port = ''] = payload.toString('utf8', 4).split('\0')
    onAccepted(addStream(id), { host, port: portOf(port) ?? 0 })
  }
  const take = ({ type, stream: id, payload }: Frame): void => {
    const waiting = opening.get(id)
    if (type === frameType.accepted) accept(id, payload)
    else if (type === frameType.opened) waiting?.resolve(payload.toString('utf8'))
    else if (type === frameType.failed) waiting?.reject(new Error(payload.toString('utf8')))
    else streams.get(id)?.take(type, payload)
  }
  const read = createFrameReader(take)
  program.stdout.on('data', (bytes: Buffer) => {
    try {
      if (!hasEnded) read(bytes)
    } catch {
      end()
    }
  })
  program.stderr.resume()
  for (const stream of [program.stdin, program.stdout, program.stderr]) stream.on('error', end)
  program.exited.then(end, end)

  const ask = (type: number, id: number, payload: Buffer): Promise<string> =>
    new Promise<string>((resolve, reject) => {
      if (hasEnded) return reject(new Error('the forwarding program has ended'))
      opening.set(id, { resolve, reject })
      send(type, id, payload)
    }).finally(() => opening.delete(id))
  const nextId = (): number => {
    lastId += 1
    return lastId
  }
  const connectAs = async (type: number, payload: Buffer): Promise<Duplex> => {
    if (streams.size >= forwardedPerConnectionMax) throw new Error('too many forwarded connections')
    const id = nextId()
    const stream = addStream(id)
    try {
      await ask(type, id, payload)
      return stream
    } catch (error) {
      stream.destroy()
      throw error
    }
  }
  const listenAs = async (type: number, payload: Buffer, onAccepted: OnAccepted): Promise<Listener> => {
    if (listeners.size >= listenersPerConnectionMax) throw new Error('too many listeners')
    const id = nextId()
    listeners.set(id, onAccepted)
    try {
      const shown = await ask(type, id, payload)
      const close = (): void => {
        if (listeners.delete(id)) send(frameType.unlisten, id)
      }
      return { shown, close }
    } catch (error) {
      listeners.delete(id)
      throw error
    }
  }
  const addressOf = (host: string, port: number): Buffer => Buffer.from(`${host}\0${port}`)
  return {
    connect: (host, port) => connectAs(frameType.connect, addressOf(host, port)),
    connectUnix: (path) => connectAs(frameType.connectUnix, Buffer.from(path)),
    listen: (host, port, onAccepted) => listenAs(frameType.listen, addressOf(host, port), onAccepted),
    listenUnix: (path, onAccepted) => listenAs(frameType.listenUnix, Buffer.from(path), onAccepted),
    listenAgent: (onAccepted) => listenAs(frameType.listenAgent, nothing, onAccepted),
    end,
  }
}
