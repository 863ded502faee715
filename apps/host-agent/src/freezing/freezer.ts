/**
 * The one place that freezes sandboxes and lets them go on. A sandbox stands still while there is a cause for it, and only
 * what set a cause lifts it: `pool`, it waits for a claim; `idle`, nothing of its user's runs in it; `stop`, its disk is
 * captured for the last time; and the guard's, which holds every sandbox of the host at once while the pool of disks is
 * full.
 */
import type { Logger } from '@dock/foundation'
import { type RuntimeDriver, SandboxGone, type SandboxHandle } from '@dock/runtime'

export type FreezeCause = 'pool' | 'idle' | 'stop'

type Sandbox = {
  handle: SandboxHandle
  causes: Set<FreezeCause>
  /** Undefined while nobody knows: the sandbox was another agent's. */
  isFrozen: boolean | undefined
  /** Its changes of state follow each other; each makes true what the causes say at its turn. */
  settled: Promise<void>
  changing: number
}

const keyOf = (handle: SandboxHandle): string => `${handle.dockId}/${handle.generation}`

export class Freezer {
  readonly #driver: Pick<RuntimeDriver, 'freeze' | 'thaw'>
  readonly #logger: Logger
  readonly #sandboxes = new Map<string, Sandbox>()
  #isGuarding = false

  constructor(driver: Pick<RuntimeDriver, 'freeze' | 'thaw'>, logger: Logger) {
    this.#driver = driver
    this.#logger = logger
  }

  /** Whether every sandbox stands still because the pool of disks is full. */
  get isGuarding(): boolean {
    return this.#isGuarding
  }

  /** Takes a live sandbox into account. One that an earlier agent froze goes on, unless a cause is given. */
  adopt(handle: SandboxHandle, state: { isNew: boolean; cause?: FreezeCause | undefined }): void {
    const sandbox: Sandbox = {
      handle,
      causes: new Set(state.cause ? [state.cause] : []),
      isFrozen: state.isNew ? false : undefined,
      settled: Promise.resolve(),
      changing: 0,
    }
    this.#sandboxes.set(keyOf(handle), sandbox)
    this.#settle(sandbox).catch((error: unknown) => this.#report(sandbox, error))
  }

  /** Drops what is known of a sandbox that has ended. */
  forget(handle: SandboxHandle): void {
    this.#sandboxes.delete(keyOf(handle))
  }

  /** Adds a cause; on return the sandbox stands still. When this throws, the cause does not hold it. */
  async freeze(handle: SandboxHandle, cause: FreezeCause): Promise<void> {
    const sandbox = this.#sandboxes.get(keyOf(handle))
    if (!sandbox) return
    sandbox.causes.add(cause)
    try {
      await this.#settle(sandbox)
    } catch (error) {
      // Else it would count as frozen while it runs, and nobody would try again.
      sandbox.causes.delete(cause)
      throw error
    }
  }

  /** Lifts a cause; on return the sandbox runs, unless another cause holds it. */
  async thaw(handle: SandboxHandle, cause: FreezeCause): Promise<void> {
    const sandbox = this.#sandboxes.get(keyOf(handle))
    if (!sandbox) return
    sandbox.causes.delete(cause)
    await this.#settle(sandbox)
  }

  /** Whether a cause holds the sandbox. */
  holds(handle: SandboxHandle): boolean {
    const sandbox = this.#sandboxes.get(keyOf(handle))
    return sandbox !== undefined && this.#shouldFreeze(sandbox)
  }

  /** Sets the guard's cause on every sandbox there is and those that come, or lifts it from all. */
  async guard(isGuarding: boolean): Promise<void> {
    this.#isGuarding = isGuarding
    const all = [...this.#sandboxes.values()]
    await Promise.all(
      all.map((sandbox) => this.#settle(sandbox).catch((error: unknown) => this.#report(sandbox, error))),
    )
  }

  #shouldFreeze(sandbox: Sandbox): boolean {
    return this.#isGuarding || sandbox.causes.size > 0
  }

  #settle(sandbox: Sandbox): Promise<void> {
    if (sandbox.changing === 0 && sandbox.isFrozen === this.#shouldFreeze(sandbox)) return sandbox.settled
    sandbox.changing += 1
    const settled = sandbox.settled.then(() => this.#makeTrue(sandbox))
    const done = () => {
      sandbox.changing -= 1
    }
    sandbox.settled = settled.then(done, done)
    return settled
  }

  async #makeTrue(sandbox: Sandbox): Promise<void> {
    const wanted = this.#shouldFreeze(sandbox)
    if (sandbox.isFrozen === wanted) return
    try {
      await (wanted ? this.#driver.freeze?.(sandbox.handle) : this.#driver.thaw?.(sandbox.handle))
      sandbox.isFrozen = wanted
    } catch (error) {
      sandbox.isFrozen = undefined
      // What watches the sandbox tells of its end.
      if (!(error instanceof SandboxGone)) throw error
    }
  }

  #report(sandbox: Sandbox, error: unknown): void {
    const { dockId } = sandbox.handle
    this.#logger.error({ err: error, dockId }, 'a sandbox could not be frozen or let go on')
  }
}
