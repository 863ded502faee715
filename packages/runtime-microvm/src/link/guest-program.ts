/** A program in the guest, or a connection to one of its ports: the state of its channel. */
import { expectLength, type GuestEnd, readEnd, readPid, readPosition, readRefusal } from './answers.ts'
import type { Frame } from './frames.ts'
import { GuestInput } from './guest-input.ts'
import { GuestOutput } from './guest-output.ts'
import { GuestRefused, GuestViolation } from './link-errors.ts'
import { sizes, states, types } from './protocol.ts'

/** What a channel needs of its link. */
export type ChannelLink = {
  canSend(): boolean
  send(type: number, stream: number, channel: number, payload: Buffer): void
  forget(channel: number): void
}

/** `opening` and `attaching` wait for the guest. After `closing` only the confirmation counts, after `left` nothing. */
type ChannelState = 'opening' | 'attaching' | 'open' | 'closing' | 'closed' | 'left'

const nothing = Buffer.alloc(0)
/** What may be under way when the host closes a program: the windows of its outputs, and some frames without output. */
const ignoredMax = 2 * sizes.window + 1_024
const positionBytes = (position: number): Buffer => {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigUInt64LE(BigInt(position))
  return bytes
}

/** Output from the oldest byte that the guest has kept. */
const oldest = 2n ** 64n - 1n

export class GuestProgram {
  readonly id: number
  readonly stdin: GuestInput
  readonly stdout: GuestOutput
  readonly stderr: GuestOutput
  /** Resolves when the program has ended. Rejects if the link ends for good before. */
  readonly exited: Promise<GuestEnd>
  /** Resolves when the guest has started the program, or found it. */
  readonly opened: Promise<void>
  pid = 0
  isTerminal = false
  #state: ChannelState
  /** True until the guest says where the streams are. */
  #isFirst = true
  #hasEnded = false
  /** Bytes and frames that came after the host had closed the program, or left it. */
  #ignored = 0
  /** After a new connection the guest says again what has ended: the program, and its outputs. */
  #mayRepeatEnd = false
  readonly #mayRepeatStreamEnd = [false, false]
  readonly #link: ChannelLink
  readonly #exit = Promise.withResolvers<GuestEnd>()
  readonly #open = Promise.withResolvers<void>()
  readonly #close = Promise.withResolvers<void>()
  readonly #isSocket: boolean

  constructor(id: number, link: ChannelLink, state: 'opening' | 'attaching', isSocket = false) {
    this.id = id
    this.#link = link
    this.#state = state
    this.#isSocket = isSocket
    this.exited = this.#exit.promise
    this.opened = this.#open.promise
    for (const promise of [this.exited, this.opened, this.#close.promise]) promise.catch(() => undefined)
    this.stdin = new GuestInput({
      canSend: () => this.#state === 'open' && link.canSend(),
      data: (bytes) => link.send(types.data, 0, id, bytes),
      end: () => void this.#sendIfOpen(types.end, 0, nothing),
    })
    const output = (stream: number): GuestOutput =>
      new GuestOutput(
        (position) => this.#sendIfOpen(types.ack, stream, positionBytes(position)),
        () => void this.#sendIfOpen(types.end, stream, nothing),
      )
    this.stdout = output(1)
    this.stderr = output(2)
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.on('error', () => undefined)
  }

  get isClosing(): boolean {
    return this.#state === 'closing'
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Another link has the program. Its streams end here, and what still arrives is ignored. */
  leave(): void {
    this.#state = 'left'
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.destroy()
    this.#close.resolve()
  }

  /** Makes the guest forget the program. It runs on if it has not ended. */
  close(): Promise<void> {
    if (this.#state === 'opening' || this.#state === 'attaching' || this.#state === 'open') {
      this.#state = 'closing'
      this.#link.send(types.close, 0, this.id, nothing)
    }
    return this.#close.promise
  }

  /** Asks the guest to go on with the streams over the link's new connection. */
  attach(): void {
    if (this.#state === 'left') return
    if (this.#state === 'closing') {
      this.#link.send(types.close, 0, this.id, nothing)
      return
    }
    if (this.#isSocket) {
      this.fail(new GuestRefused('connection', 'the connection to the guest broke'))
      this.#link.forget(this.id)
      return
    }
    this.#state = 'attaching'
    const wanted = Buffer.alloc(32)
    for (const [index, output] of [this.stdout, this.stderr].entries()) {
      output.acknowledged = output.taken
      wanted.writeBigUInt64LE(this.#isFirst ? oldest : BigInt(output.taken), index * 16)
      wanted.writeBigUInt64LE(this.#isFirst ? oldest : BigInt(output.received), index * 16 + 8)
    }
    this.#link.send(types.attach, 0, this.id, wanted)
  }

  /** The connection can take more. */
  resumeInput(): void {
    if (this.#state === 'open') this.stdin.send()
  }

  /** Throws {@link GuestViolation} if the frame has no place in the state of the channel. */
  handle({ type, stream, payload }: Frame): void {
    if (this.#state === 'left' || (this.#state === 'closing' && type !== types.closed)) {
      this.#ignored += Math.max(1, payload.length)
      if (this.#ignored > ignoredMax) throw new GuestViolation('a program that was closed goes on')
      return
    }
    switch (type) {
      case types.opened:
        if (this.#state !== 'opening') throw new GuestViolation('opened twice')
        expectLength(payload, 4)
        this.pid = readPid(payload, 0, this.#isSocket ? 0 : 2)
        this.#begin(0, 0)
        return
      case types.attached:
        if (this.#state !== 'attaching') throw new GuestViolation('attached twice')
        this.#attached(payload)
        return
      case types.refused: {
        if (this.#state !== 'opening' && this.#state !== 'attaching')
          throw new GuestViolation('refused what runs')
        const { reason, text } = readRefusal(payload)
        this.fail(new GuestRefused(reason, text))
        this.#link.forget(this.id)
        return
      }
      case types.closed:
        if (this.#state !== 'closing') throw new GuestViolation('closed what is open')
        expectLength(payload, 0)
        this.fail(new GuestRefused('unknown', 'the program was forgotten'))
        this.#link.forget(this.id)
        return
    }
    if (this.#state !== 'open') throw new GuestViolation('a stream that is not open')
    if (type === types.exited) {
      if (this.#hasEnded && !this.#mayRepeatEnd) throw new GuestViolation('ended twice')
      this.#mayRepeatEnd = false
      const end = readEnd(payload)
      this.#hasEnded = true
      this.#exit.resolve(end)
    } else if (type === types.ack && stream === 0) {
      expectLength(payload, 8)
      this.stdin.acknowledge(readPosition(payload, 0))
    } else if (type === types.data && (stream === 1 || stream === 2)) this.#output(stream).add(payload)
    else if (type === types.end && (stream === 1 || stream === 2)) {
      expectLength(payload, 0)
      const output = this.#output(stream)
      if (this.#mayRepeatStreamEnd[stream - 1] && output.hasEnded)
        this.#mayRepeatStreamEnd[stream - 1] = false
      else output.endByGuest()
    } else throw new GuestViolation(`a frame of unknown type ${type}`)
  }

  #output(stream: number): GuestOutput {
    return stream === 1 ? this.stdout : this.stderr
  }

  #attached(payload: Buffer): void {
    expectLength(payload, 40)
    const pid = readPid(payload, 0, 2)
    if (this.pid && this.pid !== pid) throw new GuestViolation('another program')
    this.pid = pid
    this.isTerminal = (payload.readUInt32LE(4) & states.terminal) !== 0
    for (const [index, output] of [this.stdout, this.stderr].entries()) {
      const position = readPosition(payload, 24 + index * 8)
      if (this.#isFirst) output.startAt(position)
      else if (position !== output.received) throw new GuestViolation('another position')
    }
    this.#mayRepeatEnd = true
    this.#mayRepeatStreamEnd.fill(true)
    this.#begin(readPosition(payload, 8), readPosition(payload, 16))
  }

  /** The guest says how much input the program took, and how much of it has arrived. */
  #begin(taken: number, received: number): void {
    this.#state = 'open'
    const wasFirst = this.#isFirst
    this.#isFirst = false
    this.stdin.resume(taken, received, wasFirst)
    // A reader that left meanwhile.
    for (const [index, output] of [this.stdout, this.stderr].entries()) {
      output.acknowledge()
      if (output.destroyed && !output.hasEnded) this.#sendIfOpen(types.end, index + 1, nothing)
    }
    this.#open.resolve()
  }

  /** Nothing will come any more. */
  fail(error: Error): void {
    this.#state = 'closed'
    this.#open.reject(error)
    this.#exit.reject(error)
    this.#close.resolve()
    const cause = error instanceof GuestViolation ? error : undefined
    for (const output of [this.stdout, this.stderr]) if (cause || !output.hasEnded) output.destroy(cause)
    this.stdin.destroy()
  }

  #sendIfOpen(type: number, stream: number, payload: Buffer): boolean {
    if (this.#state !== 'open') return false
    this.#link.send(type, stream, this.id, payload)
    return true
  }
}
