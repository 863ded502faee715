/**
 * Keeps a few sandboxes created ahead, for boots that somebody waits for. Processors and memory are fixed when a
 * sandbox is created, so they have the size that the latest boots asked for most. They are the first to go when memory
 * is scarce.
 */
import type { Clock, Logger } from '@dock/foundation'
import type { BlankSpec, RuntimeDriver } from '@dock/runtime'
import type { Networks } from '../network/networks.ts'
import type { BootQueue } from './boot-queue.ts'

const blanksMax = 2
/** Time between checks of the memory while blanks wait: the kernel does not tell when memory becomes scarce. */
const memoryCheckMs = 5_000
const pauseAfterFailureMs = 60_000
/** How often a runtime is asked that creates none. */
const pauseWithoutMs = 600_000
/** Shares of the machine's memory that must be available to create a blank, and to keep the present ones. */
const roomyMemory = 0.3
const scarceMemory = 0.2
/** Of how many boots the sizes are remembered. */
const bootsRemembered = 16

type Size = { cpus: number; memoryMiB: number }
type Waiting = { size: Size; netnsPath: string }

const isSame = (one: Size, other: Size): boolean =>
  one.cpus === other.cpus && one.memoryMiB === other.memoryMiB

export type BlankPoolParts = {
  driver: Pick<RuntimeDriver, 'capabilities'>
  networks: Pick<Networks, 'reserve' | 'release'>
  bootQueue: Pick<BootQueue, 'isCalm' | 'onCalm'>
  /** As every boot of a Dock has it. */
  inMemory: NonNullable<BlankSpec['inMemory']>
  /** Resolves when no command has begun for a moment, or after a few seconds of them. */
  yieldToCommands: () => Promise<void>
  /** Returns the share of the machine's memory that is available. */
  memoryAvailable: () => number
  clock: Clock
  logger: Logger
}

export class BlankPool {
  readonly #parts: BlankPoolParts
  readonly #waiting: Waiting[] = []
  readonly #booted: Size[] = []
  #changing: Promise<void> | undefined
  #cancelCheck: (() => void) | undefined
  #isRunning = false
  #notBefore = 0

  constructor(parts: BlankPoolParts) {
    this.#parts = parts
    parts.bootQueue.onCalm(() => this.#change())
  }

  /**
   * Returns the network namespace of a blank for a boot of this size, or null if there is none. The caller then owns
   * the blank, and the reservation of the namespace. Boots that nobody waits for get none.
   */
  take({ cpus, memoryMiB }: Size, { inBackground }: { inBackground: boolean }): string | null {
    if (inBackground) return null
    const size = { cpus, memoryMiB }
    this.#booted.push(size)
    if (this.#booted.length > bootsRemembered) this.#booted.shift()
    const index = this.#waiting.findIndex((each) => isSame(each.size, size))
    return index < 0 ? null : this.#waiting.splice(index, 1)[0]!.netnsPath
  }

  /** Starts to create blanks. Returns a function that stops this. */
  start(): () => void {
    if (!this.#parts.driver.capabilities.blanks) return () => {}
    this.#isRunning = true
    this.#change()
    return () => this.#stop()
  }

  /** Removes every blank. Call it when no Dock boots any more. */
  async close(): Promise<void> {
    this.#stop()
    await this.#changing
    for (const each of this.#waiting.splice(0))
      await this.remove(each.netnsPath).catch((error: unknown) => this.#logFailure(error))
  }

  /**
   * Removes the blank in this network namespace, and ends the reservation of the namespace. If the blank cannot be
   * removed, no Dock gets the namespace.
   */
  async remove(netnsPath: string): Promise<void> {
    const { driver, networks } = this.#parts
    await driver.capabilities.blanks?.remove(netnsPath)
    await networks.release(netnsPath)
  }

  #stop(): void {
    this.#isRunning = false
    this.#cancelCheck?.()
    this.#cancelCheck = undefined
  }

  /** Makes one change at a time, and then the next one. */
  #change(): void {
    if (this.#changing || !this.#isRunning) return
    const spare = this.#spare()
    if (!spare && !this.#sizeToCreate()) return
    this.#changing = (spare ? this.#discard(spare) : this.#createOne())
      .catch((error: unknown) => {
        this.#logFailure(error)
        this.#pause(pauseAfterFailureMs)
      })
      .finally(() => {
        this.#changing = undefined
        this.#checkMemory()
        this.#change()
      })
  }

  #pause(milliseconds: number): void {
    this.#notBefore = this.#parts.clock.now().getTime() + milliseconds
    this.#parts.clock.after(milliseconds, () => this.#change())
  }

  #checkMemory(): void {
    if (this.#cancelCheck || this.#waiting.length === 0 || !this.#isRunning) return
    this.#cancelCheck = this.#parts.clock.after(memoryCheckMs, () => {
      this.#cancelCheck = undefined
      this.#change()
      this.#checkMemory()
    })
  }

  /** Returns a blank that is not to be kept. */
  #spare(): Waiting | undefined {
    const size = this.#mostWanted()
    const isScarce = this.#waiting.length > 0 && this.#parts.memoryAvailable() < scarceMemory
    return this.#waiting.find((each) => isScarce || !size || !isSame(each.size, size))
  }

  #discard(spare: Waiting): Promise<void> {
    this.#waiting.splice(this.#waiting.indexOf(spare), 1)
    return this.remove(spare.netnsPath)
  }

  /** Returns the size of a blank that is missing, unless it has to wait. */
  #sizeToCreate(): Size | undefined {
    const { memoryAvailable, bootQueue, clock } = this.#parts
    if (this.#waiting.length >= blanksMax || clock.now().getTime() < this.#notBefore) return undefined
    const size = this.#mostWanted()
    return size && bootQueue.isCalm && memoryAvailable() >= roomyMemory ? size : undefined
  }

  /** The size of most of the latest boots. If two are equal, it is the one of the present blanks. */
  #mostWanted(): Size | undefined {
    const count = (size: Size): number => this.#booted.filter((each) => isSame(each, size)).length
    const present = this.#waiting[0]?.size
    return this.#booted.reduce<Size | undefined>(
      (most, each) => (most && count(most) >= count(each) ? most : each),
      present && count(present) > 0 ? present : undefined,
    )
  }

  async #createOne(): Promise<void> {
    const { driver, networks, inMemory, yieldToCommands } = this.#parts
    await yieldToCommands()
    // Meanwhile a Dock may boot, or the agent shut down.
    const size = this.#isRunning ? this.#sizeToCreate() : undefined
    if (!size) return
    const netnsPath = await networks.reserve()
    try {
      if (await driver.capabilities.blanks?.create({ ...size, netnsPath, inMemory })) {
        this.#waiting.push({ size, netnsPath })
        return
      }
    } catch (error) {
      await this.remove(netnsPath)
      throw error
    }
    await networks.release(netnsPath)
    this.#pause(pauseWithoutMs)
  }

  #logFailure(error: unknown): void {
    this.#parts.logger.warn({ err: error }, 'could not create or remove a sandbox ahead')
  }
}
