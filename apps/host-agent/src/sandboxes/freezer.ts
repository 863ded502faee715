/**
 * The only place that freezes and thaws sandboxes. A sandbox is frozen while at least one cause holds it. Causes: `warm` (it
 * waits for a claim), `idle` (only the platform's processes run), `capture` (its disk is being captured while it runs), `stop`
 * (its final capture is being made). In addition the pool guard freezes every sandbox of the host while the disk pool is full.
 */
import type { Logger } from '@dock/foundation'
import { type Freezing, SandboxGone, type SandboxHandle } from '@dock/runtime'

export type FreezeCause = 'warm' | 'idle' | 'capture' | 'stop'

type Sandbox = {
  handle: SandboxHandle
  causes: Set<FreezeCause>
  /** Undefined if unknown: an earlier agent started the sandbox. */
  isFrozen: boolean | undefined
  /** False if it was frozen before it had written what it has in memory. */
  hasWritten: boolean
  /** The end of the latest transition. Transitions run in sequence; each applies the causes at the time it runs. */
  settled: Promise<void>
  changing: number
}

const keyOf = (handle: SandboxHandle): string => `${handle.dockId}/${handle.generation}`

export class Freezer {
  readonly #freezing: Freezing | null
  readonly #logger: Logger
  readonly #sandboxes = new Map<string, Sandbox>()
  #isGuarding = false

  /** Without `freezing`, every sandbox runs on whatever the causes are. */
  constructor(freezing: Freezing | null, logger: Logger) {
    this.#freezing = freezing
    this.#logger = logger
  }

  /** True while the pool guard freezes every sandbox because the disk pool is full. */
  get isGuarding(): boolean {
    return this.#isGuarding
  }

  /** Registers a live sandbox. A sandbox that an earlier agent froze is thawed unless `cause` is set. */
  adopt(handle: SandboxHandle, state: { isNew: boolean; cause?: FreezeCause | undefined }): void {
    const sandbox: Sandbox = {
      handle,
      causes: new Set(state.cause ? [state.cause] : []),
      isFrozen: state.isNew ? false : undefined,
      hasWritten: false,
      settled: Promise.resolve(),
      changing: 0,
    }
    this.#sandboxes.set(keyOf(handle), sandbox)
    this.#converge(sandbox).catch((error: unknown) => this.#logFailure(sandbox, error))
  }

  /** Forgets a sandbox that has ended. */
  forget(handle: SandboxHandle): void {
    this.#sandboxes.delete(keyOf(handle))
  }

  /**
   * Adds a cause. On return the sandbox is frozen. If this throws, the cause is not set. Returns false if the sandbox did not
   * first write what it has in memory, or is unknown.
   */
  async freeze(handle: SandboxHandle, cause: FreezeCause): Promise<boolean> {
    const sandbox = this.#sandboxes.get(keyOf(handle))
    if (!sandbox) return false
    sandbox.causes.add(cause)
    try {
      await this.#converge(sandbox)
      return sandbox.hasWritten
    } catch (error) {
      // Otherwise the running sandbox would count as frozen, and no caller would try again.
      sandbox.causes.delete(cause)
      throw error
    }
  }

  /** Removes a cause. On return the sandbox runs, unless another cause holds it. */
  async thaw(handle: SandboxHandle, cause: FreezeCause): Promise<void> {
    const sandbox = this.#sandboxes.get(keyOf(handle))
    if (!sandbox) return
    sandbox.causes.delete(cause)
    await this.#converge(sandbox)
  }

  /** True if the sandbox should be frozen. */
  shouldBeFrozen(handle: SandboxHandle): boolean {
    const sandbox = this.#sandboxes.get(keyOf(handle))
    return sandbox !== undefined && this.#shouldFreeze(sandbox)
  }

  /** Turns the pool guard on or off, for all present and future sandboxes. */
  async setGuarding(isGuarding: boolean): Promise<void> {
    this.#isGuarding = isGuarding
    const all = [...this.#sandboxes.values()]
    await Promise.all(
      all.map((sandbox) =>
        this.#converge(sandbox).catch((error: unknown) => this.#logFailure(sandbox, error)),
      ),
    )
  }

  #shouldFreeze(sandbox: Sandbox): boolean {
    return this.#isGuarding || sandbox.causes.size > 0
  }

  #converge(sandbox: Sandbox): Promise<void> {
    if (sandbox.changing === 0 && sandbox.isFrozen === this.#shouldFreeze(sandbox)) return sandbox.settled
    sandbox.changing += 1
    const settled = sandbox.settled.then(() => this.#applyCauses(sandbox))
    const done = () => {
      sandbox.changing -= 1
    }
    sandbox.settled = settled.then(done, done)
    return settled
  }

  async #applyCauses(sandbox: Sandbox): Promise<void> {
    const wanted = this.#shouldFreeze(sandbox)
    if (sandbox.isFrozen === wanted) return
    try {
      if (wanted) sandbox.hasWritten = (await this.#freezing?.freeze(sandbox.handle)) ?? false
      else await this.#freezing?.thaw(sandbox.handle)
      sandbox.isFrozen = wanted
    } catch (error) {
      sandbox.isFrozen = undefined
      // The watch on the sandbox reports its end.
      if (!(error instanceof SandboxGone)) throw error
    }
  }

  #logFailure(sandbox: Sandbox, error: unknown): void {
    const { dockId } = sandbox.handle
    this.#logger.error({ err: error, dockId }, 'could not freeze or thaw a sandbox')
  }
}
