/** A link that connects again when its connection breaks, until the machine is gone. */
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { GuestLink, type LinkOptions } from './guest-link.ts'
import { GuestViolation, LinkBroken } from './link-errors.ts'

const reconnectMs = 100

export type LastingLinkOptions = LinkOptions & {
  dial: () => Duplex
  /** Called once if the guest violates the protocol: its machine must be killed. */
  onViolation: (error: GuestViolation) => void
  /** Returns true if the machine is gone, for the error of a connection that broke. Default: only {@link LastingLink.end} says so. */
  isGone?: (error: unknown) => boolean
}

export class LastingLink {
  /** Resolves when the machine is gone. */
  readonly over: Promise<void>
  readonly #options: LastingLinkOptions
  readonly #end = Promise.withResolvers<void>()
  #isOver = false
  #link: GuestLink | undefined
  #linked = Promise.withResolvers<GuestLink>()

  constructor(options: LastingLinkOptions) {
    this.#options = options
    this.over = this.#end.promise
    this.#linked.promise.catch(() => undefined)
    void this.#stayLinked()
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /**
   * Calls `work` with the link, and again if the connection breaks meanwhile, so `work` must be safe to repeat. Opening a program
   * is: an opening that was sent goes on over the next connection. Rejects with {@link LinkBroken} if the machine is gone.
   */
  async ask<Result>(work: (link: GuestLink) => Promise<Result> | Result): Promise<Result> {
    for (;;) {
      try {
        return await work(await this.#linked.promise)
      } catch (error) {
        if (this.#isOver || !(error instanceof LinkBroken)) throw error
        // The link learns of the break a moment later.
        await delay(1)
      }
    }
  }

  /** Ends the link: the machine is gone. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#linked.reject(new LinkBroken('the machine is gone'))
    this.#link?.end()
    this.#end.resolve()
  }

  async #stayLinked(): Promise<void> {
    while (!this.#isOver) {
      let reason: unknown
      try {
        const stream = this.#options.dial()
        if (this.#link) await this.#link.resume(stream)
        else this.#link = await this.#connect(stream)
        this.#linked.resolve(this.#link)
        reason = await Promise.race([this.#link.broken, this.over])
      } catch (error) {
        reason = error
      }
      if (reason instanceof GuestViolation) return this.#options.onViolation(reason)
      if (this.#options.isGone?.(reason)) this.end()
      if (this.#isOver) return
      this.#linked = Promise.withResolvers()
      this.#linked.promise.catch(() => undefined)
      await delay(reconnectMs)
    }
  }

  async #connect(stream: Duplex): Promise<GuestLink> {
    const link = await GuestLink.connect(stream, this.#options)
    // An end that was ordered meanwhile did not know this link.
    if (this.#isOver) link.end()
    return link
  }
}
