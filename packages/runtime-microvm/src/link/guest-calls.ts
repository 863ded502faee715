/** What the host asks of the machine as a whole: each question has a number, and one reply. */
import {
  expectLength,
  type GuestProcess,
  type GuestProgramState,
  type GuestUsage,
  plainText,
  readPosition,
  readProcesses,
  readPrograms,
  readUsage,
} from './answers.ts'
import { GuestCallFailed, GuestViolation } from './link-errors.ts'
import { calls, sizes } from './protocol.ts'
import { encodeConfig, encodeIdentity, type GuestConfig, type GuestIdentity } from './requests.ts'

type Call = { name: string; resolve: (data: Buffer) => void; reject: (error: Error) => void }

const callsMax = 1_024
const processesMax = 65_536
const errnoMax = 4_095
const nothing = Buffer.alloc(0)

const word = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32LE(value)
  return bytes
}
const refuseMore = (): never => {
  throw new GuestViolation('too many programs')
}

export abstract class GuestCalls {
  /** True once the machine runs programs: it had its configuration. */
  isRunning = false
  readonly #calls = new Map<number, Call>()
  #next = 1

  /** Throws if there is no connection. */
  protected abstract sendCall(operation: number, id: number, payload: Buffer): void
  /** Ends the link, because a reply could not be read. */
  protected abstract violated(error: unknown): void

  /** Gives the machine its configuration. */
  async go(config: GuestConfig): Promise<void> {
    await this.#call('go', encodeConfig(config))
    this.isRunning = true
  }

  /** Makes a restored machine itself: clock, randomness, name, network. */
  async identify(identity: GuestIdentity): Promise<void> {
    await this.#call('identity', encodeIdentity(identity))
  }

  /** Returns every process of the guest, at most 65,536. */
  async processes(): Promise<GuestProcess[]> {
    const found: GuestProcess[] = []
    for (let after = 0; found.length < processesMax; after = found.at(-1)!.pid) {
      const page = this.#read(await this.#call('processes', word(after)), (data) =>
        readProcesses(data, after),
      )
      if (page.length === 0) break
      found.push(...page)
    }
    return found
  }

  /** Returns every program that the guest has not been told to forget. */
  async programs(): Promise<GuestProgramState[]> {
    const found: GuestProgramState[] = []
    for (let after = 0; ; after = found.at(-1)!.id) {
      const page = this.#read(await this.#call('programs', word(after)), (data) => readPrograms(data, after))
      if (page.length === 0) return found
      found.push(...page)
      if (found.length > sizes.channelsMax) this.#read(nothing, refuseMore)
    }
  }

  async usage(): Promise<GuestUsage> {
    return this.#read(await this.#call('usage'), readUsage)
  }

  async ping(): Promise<void> {
    await this.#call('ping')
  }

  async rename(hostname: string): Promise<void> {
    await this.#call('rename', Buffer.from(hostname))
  }

  /** Sets the clock, which stands still while the machine is paused. */
  async setClock(ns: bigint): Promise<void> {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(ns)
    await this.#call('clock', bytes)
  }

  async sync(): Promise<void> {
    await this.#call('sync')
  }

  /** Stops all writes to the disk, until {@link GuestCalls.thawDisk} or until the time is over. */
  async freezeDisk(atMostMs: number): Promise<void> {
    await this.#call('freeze', word(atMostMs))
  }

  /** Rejects if the guest did not wait: the time was over. */
  async thawDisk(): Promise<void> {
    await this.#call('thaw')
  }

  /** Makes the filesystem as large as its disk, and returns its size in bytes. */
  async growDisk(): Promise<number> {
    return this.#read(await this.#call('grow'), (data) => {
      expectLength(data, 8)
      return readPosition(data, 0)
    })
  }

  /** Ends all programs, with TERM first if they get time for it, and powers the machine off. */
  async powerOff(graceMs: number): Promise<void> {
    await this.#call('powerOff', word(graceMs))
  }

  protected failCalls(error: Error): void {
    for (const { reject } of this.#calls.values()) reject(error)
    this.#calls.clear()
  }

  /** Throws {@link GuestViolation} if the guest must not say this. */
  protected reply(id: number, payload: Buffer): void {
    const call = this.#calls.get(id)
    if (!call) throw new GuestViolation('a reply to no call')
    expectLength(payload, 4, sizes.payloadMax)
    this.#calls.delete(id)
    const errno = payload.readUInt32LE(0)
    if (errno > errnoMax) throw new GuestViolation('no number of an error')
    const data = payload.subarray(4)
    if (errno === 0) call.resolve(data)
    else call.reject(new GuestCallFailed(call.name, errno, plainText(data.subarray(0, sizes.textMax))))
  }

  async #call(name: keyof typeof calls, payload: Buffer = nothing): Promise<Buffer> {
    if (this.#calls.size >= callsMax) throw new RangeError('too many calls')
    const id = this.#next
    this.#next = (this.#next % 0xffff_fffe) + 1
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    this.#calls.set(id, { name, resolve, reject })
    try {
      this.sendCall(calls[name], id, payload)
      return await promise
    } finally {
      this.#calls.delete(id)
    }
  }

  /** Reads an answer. A malformed one ends the link. */
  #read<T>(data: Buffer, read: (data: Buffer) => T): T {
    try {
      return read(data)
    } catch (error) {
      this.violated(error)
      throw error
    }
  }
}
