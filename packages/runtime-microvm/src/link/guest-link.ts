/**
 * The host's end of the byte stream to a guest agent. The guest is hostile: whatever it sends, the link takes a bounded
 * amount of memory, and a violation of the protocol ends it for good.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { Duplex } from 'node:stream'
import { expectLength, plainText, readPid } from './answers.ts'
import { type Frame, FrameParser, frameParts } from './frames.ts'
import { GuestCalls } from './guest-calls.ts'
import { type ChannelLink, GuestProgram } from './guest-program.ts'
import { GuestRefused, GuestViolation, LinkBroken } from './link-errors.ts'
import { flagMore, machineStates, sizes, targets, types } from './protocol.ts'
import { readingPace } from './reading-pace.ts'
import { encodeOpen, encodeSize, type OpenRequest } from './requests.ts'
import { Welcome } from './welcome.ts'

export type LinkOptions = {
  /** Called with each line that the agent logs. The guest writes it: it is no fact. */
  onLog?: (line: string) => void
  /** Called when the guest's kernel killed a process because memory ran out. `program` is 0 if it belongs to none. */
  onOutOfMemory?: (event: { program: number; pid: number; name: string }) => void
  /** How long a new connection waits for the agent. */
  helloMs?: number
}

/** Emulated machines that boot at the same time are slow. */
const helloMsDefault = 120_000
/** Lines and events that a guest may send at once, and how many more each second. */
const eventsMax = 1_000
const eventsPerSecond = 200
/** What waits to be sent while the guest does not read. Programs' input waits for itself, so this is far more than is sent. */
const unsentBytesMax = 64 * 2 ** 20

export class GuestLink extends GuestCalls {
  readonly #options: LinkOptions
  readonly #channels = new Map<number, GuestProgram>()
  readonly #closed = Promise.withResolvers<Error>()
  readonly #face: ChannelLink
  readonly #share = readingPace.newShare()
  #stream: Duplex | undefined
  #broken = Promise.withResolvers<Error>()
  #violation: GuestViolation | undefined
  #needsDrain = false
  #eventsLeft = eventsMax
  #eventsAt = performance.now()

  private constructor(options: LinkOptions) {
    super()
    this.#options = options
    this.#face = {
      canSend: () => this.#stream !== undefined && !this.#needsDrain,
      send: (type, stream, channel, payload) => this.#send(type, stream, channel, payload),
      forget: (channel) => this.#channels.delete(channel),
    }
  }

  /** Greets the agent over a connected stream. Rejects with {@link LinkBroken} or {@link GuestViolation}. */
  static async connect(stream: Duplex, options: LinkOptions = {}): Promise<GuestLink> {
    const link = new GuestLink(options)
    await link.#greet(stream)
    return link
  }

  /** Resolves with the reason when the connection has broken. {@link GuestLink.resume} may begin another one. */
  get broken(): Promise<Error> {
    return this.#broken.promise
  }

  /** Resolves with the reason when the link is over: the guest violated the protocol, or {@link GuestLink.end} was called. */
  get closed(): Promise<Error> {
    return this.#closed.promise
  }

  /** Goes on over a new connection after the last one broke. No byte of a program's streams is lost or doubled. */
  async resume(stream: Duplex): Promise<void> {
    if (this.#violation) throw this.#violation
    if (this.#stream) throw new Error('the connection has not broken')
    this.#broken = Promise.withResolvers()
    await this.#greet(stream)
    for (const program of this.#channels.values()) program.attach()
  }

  /** Ends the link. Programs go on in the guest. */
  end(): void {
    this.#break(new LinkBroken('the link was ended'))
    this.#over(new LinkBroken('the link was ended'))
  }

  /**
   * Starts a program. Rejects with {@link GuestRefused} if the guest does not. `onSent` is called with the number of its channel,
   * by which it can be killed before it runs.
   */
  async open(request: OpenRequest, onSent?: (id: number) => void): Promise<GuestProgram> {
    const bytes = encodeOpen(request)
    const program = this.#channel('opening')
    onSent?.(program.id)
    program.isTerminal = request.pty !== undefined
    for (let at = 0; at < bytes.length; at += sizes.payloadMax) {
      const isLast = at + sizes.payloadMax >= bytes.length
      this.#send(types.open, 0, program.id, bytes.subarray(at, at + sizes.payloadMax), isLast ? 0 : flagMore)
    }
    await program.opened
    return program
  }

  /** Takes up a program that an earlier link started. Its output begins with the oldest byte that nobody acknowledged. */
  async attach(id: number): Promise<GuestProgram> {
    const known = this.#channels.get(id)
    // The guest no longer knows a program that is being forgotten.
    if (known?.isClosing) throw new GuestRefused('unknown', 'the program was forgotten')
    const program = known ?? this.#channel('attaching', id)
    if (!known) program.attach()
    await program.opened
    return program
  }

  /** Connects to a server on loopback in the guest. Rejects with {@link GuestRefused} if nobody listens. */
  async dial(port: number): Promise<Duplex> {
    const payload = Buffer.alloc(2)
    payload.writeUInt16LE(port)
    const channel = this.#channel('opening', undefined, true)
    this.#send(types.dial, 0, channel.id, payload)
    await channel.opened
    channel.stderr.resume()
    const connection = Duplex.from({ readable: channel.stdout, writable: channel.stdin })
    connection.once('close', () => void channel.close())
    return connection
  }

  /** Leaves a program to another link, which has attached to it. On return no frame of the program is under way on this one. */
  async leave(program: GuestProgram): Promise<void> {
    program.leave()
    // The guest sent everything that belongs to the program before its reply.
    await this.ping().catch(() => undefined)
    this.#channels.delete(program.id)
  }

  /** Makes the guest forget a program, which runs on if it has not ended. */
  async forget(id: number): Promise<void> {
    const program = this.#channels.get(id) ?? this.#channel('attaching', id)
    await program.close()
  }

  /** Does nothing if the guest does not know the program. Throws {@link LinkBroken} without a connection. */
  signal(id: number, signal: number, target: keyof typeof targets): void {
    this.#requireStream()
    this.#send(types.signal, 0, id, Buffer.from([targets[target], signal]))
  }

  /** Does nothing if the guest does not know the program, it has no terminal, or there is no connection. */
  resize(id: number, cols: number, rows: number): void {
    this.#send(types.resize, 0, id, encodeSize(cols, rows))
  }

  protected override sendCall(operation: number, id: number, payload: Buffer): void {
    this.#requireStream()
    this.#send(types.call, operation, id, payload)
  }

  protected override violated(error: unknown): void {
    this.#fail(error)
  }

  #channel(state: 'opening' | 'attaching', wanted?: number, isSocket = false): GuestProgram {
    this.#requireStream()
    if (this.#channels.size >= sizes.channelsMax) throw new RangeError('too many programs')
    let id = wanted ?? 0
    while (id === 0 || (!wanted && this.#channels.has(id))) id = randomInt(1, 2 ** 32)
    const program = new GuestProgram(id, this.#face, state, isSocket)
    this.#channels.set(id, program)
    return program
  }

  #requireStream(): void {
    if (this.#violation) throw this.#violation
    if (!this.#stream) throw new LinkBroken('there is no connection to the guest')
  }

  #send(type: number, stream: number, channel: number, payload: Buffer, flags = 0): void {
    const to = this.#stream
    if (!to || to.destroyed) return
    to.cork()
    for (const part of frameParts(type, stream, channel, payload, flags)) this.#needsDrain = !to.write(part)
    to.uncork()
    if (to.writableLength > unsentBytesMax) this.#fail(new GuestViolation('the guest does not read'))
  }

  async #greet(stream: Duplex): Promise<void> {
    const welcome = new Welcome(randomBytes(sizes.nonce))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const parser = new FrameParser((frame) => this.#handle(frame))
    const late = setTimeout(
      () => this.#break(new LinkBroken('the agent does not answer'), stream),
      this.#options.helloMs ?? helloMsDefault,
    )
    this.#stream = stream
    this.#needsDrain = false
    void this.#broken.promise.then(reject)
    this.#share.read(stream, (chunk, framesMax) => {
      const all = { bytes: chunk.length, frames: 0 }
      if (this.#stream !== stream) return all
      try {
        let rest = chunk
        if (!welcome.isSeen) {
          const found = welcome.find(chunk)
          if (!found) return all
          rest = found
          this.isRunning = welcome.machineState === machineStates.runs
          resolve()
        }
        let frames = 0
        const taken = parser.feed(rest, () => this.#stream !== stream || frames++ === framesMax)
        return { bytes: chunk.length - rest.length + taken, frames }
      } catch (error) {
        if (error instanceof LinkBroken) this.#break(error, stream)
        else this.#fail(error)
        return all
      }
    })
    stream.on('drain', () => {
      if (this.#stream !== stream) return
      this.#needsDrain = false
      for (const program of this.#channels.values()) program.resumeInput()
    })
    stream.on('error', (error) =>
      this.#break(new LinkBroken('the connection to the guest broke', { cause: error }), stream),
    )
    stream.on('close', () => this.#break(new LinkBroken('the connection to the guest broke'), stream))
    stream.on('end', () => this.#break(new LinkBroken('the connection to the guest ended'), stream))
    for (const part of welcome.greeting) stream.write(part)
    try {
      await promise
    } finally {
      clearTimeout(late)
    }
  }

  #handle(frame: Frame): void {
    const { type, stream, channel, payload } = frame
    if (stream > 2) throw new GuestViolation('an unknown stream')
    if (type === types.reply) {
      this.reply(channel, payload)
      return
    }
    if (type === types.log) {
      this.#countEvent()
      expectLength(payload, 0, sizes.textMax)
      this.#options.onLog?.(plainText(payload))
      return
    }
    if (type === types.outOfMemory) {
      this.#countEvent()
      expectLength(payload, 4, 4 + sizes.nameMax)
      const name = plainText(payload.subarray(4))
      this.#options.onOutOfMemory?.({ program: channel, pid: readPid(payload, 0), name })
      return
    }
    const program = this.#channels.get(channel)
    if (!program) throw new GuestViolation('a channel that is not open')
    program.handle(frame)
  }

  #countEvent(): void {
    const now = performance.now()
    this.#eventsLeft = Math.min(
      eventsMax,
      this.#eventsLeft + ((now - this.#eventsAt) / 1_000) * eventsPerSecond,
    )
    this.#eventsAt = now
    this.#eventsLeft -= 1
    if (this.#eventsLeft < 0) throw new GuestViolation('too many lines and events')
  }

  /** Errors of our own that a frame caused count as the guest's: nothing may depend on what it sent. */
  #fail(error: unknown): void {
    const violation =
      error instanceof GuestViolation
        ? error
        : new GuestViolation('a frame could not be read', { cause: error })
    this.#violation ??= violation
    this.#break(violation)
    this.#over(violation)
  }

  #break(error: Error, of = this.#stream): void {
    if (!of || of !== this.#stream) return
    this.#stream = undefined
    of.destroy()
    this.failCalls(error)
    this.#broken.resolve(error)
  }

  #over(error: Error): void {
    for (const program of this.#channels.values()) program.fail(error)
    this.#channels.clear()
    this.#closed.resolve(error)
  }
}
