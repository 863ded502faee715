/** The sandboxes of a simulated machine, what was done with them, and controls for tests. */
import {
  type BlankSpec,
  type ExecReference,
  type ExecRequest,
  SandboxGone,
  type SandboxHandle,
  type SandboxSpec,
  type SandboxUsage,
} from '@dock/runtime'
import { fakeDelay } from '../fake-delay.ts'
import type { LocalProcess } from './local-process.ts'

/** The calls that a test can hold or make fail. `execEnd` is the end of a command. */
export type FakeCall =
  | 'start'
  | 'exec'
  | 'execEnd'
  | 'waitForExec'
  | 'abandonedExecs'
  | 'destroy'
  | 'freeze'
  | 'thaw'
  | 'processes'

/** For `execEnd`, `program` must be that of the command. Other calls have none. */
type CallTarget = { dockId: string; program?: string | undefined }

export type FakeSandbox = {
  handle: SandboxHandle
  die: () => void
  dead: Promise<void>
  /** `thawed` resolves at the thaw. Undefined while the sandbox is not frozen. */
  frozen: { thawed: Promise<void>; thaw: () => void } | undefined
}

/** A running command. `starter` identifies the driver instance that started it. */
export type FakeCommand = {
  sandbox: FakeSandbox
  starter: symbol
  reference: ExecReference
  /** Ends the command as if a signal had killed it. */
  kill: () => void
  exitCode: Promise<number | undefined>
}

/** What tests see and change. */
export type FakeControls = {
  /** Commands that were run, oldest first. `sleep …` runs until it is ended. */
  readonly executed: readonly ExecRequest[]
  /** Commands of earlier agents that were waited for, oldest first. */
  readonly rejoined: readonly ExecReference[]
  /** Commands of earlier agents that were ended, oldest first. */
  readonly ended: readonly ExecReference[]
  /** New host names of running sandboxes, by Dock. */
  readonly renamed: ReadonlyMap<string, string>
  /** Sandboxes that were started, oldest first. */
  readonly started: readonly SandboxSpec[]
  /** Blank sandboxes that wait, by network namespace. */
  readonly blanks: ReadonlyMap<string, BlankSpec>
  /** Calls that waited or wait because of `hold`, oldest first. */
  readonly held: readonly FakeCall[]
  /** Ids of the Docks whose sandbox is frozen. */
  readonly frozen: ReadonlySet<string>
  /** Makes the next call of this name throw the error: any call, or `only` one of this Dock and program. */
  failNext(call: FakeCall, error: Error, only?: CallTarget): void
  /** Makes calls of this name wait until the returned function is called. */
  hold(call: FakeCall): () => void
  /** Sets the program names of the sandbox's processes besides those of the platform. */
  setProcesses(dockId: string, names: readonly string[]): void
  setUsage(dockId: string, usage: SandboxUsage): void
  /** True if the Dock has a sandbox. */
  isAlive(dockId: string): boolean
  /** Kills the Dock's sandbox, like a crash. */
  kill(dockId: string): void
  /** Kills the Dock's sandbox without notifying an agent, like a crash while no agent runs. */
  killWithoutNotice(dockId: string): void
  /** Marks the Dock's sandbox as running on an older release of the runtime. */
  outdate(dockId: string): void
}

/** The state that all drivers of one machine share, like a driver and the one after a restart of the agent. */
export type FakeMachine = ReturnType<typeof createFakeMachine>

const keyOf = ({ dockId, generation }: Pick<SandboxHandle, 'dockId' | 'generation'>): string =>
  `${dockId}/${generation}`

export function createFakeMachine() {
  const sandboxes = new Map<string, FakeSandbox>()
  const frozen = new Set<string>()
  const failures = new Map<FakeCall, { error: Error; only: CallTarget | undefined }>()
  const gates = new Map<FakeCall, Promise<void>>()
  const held: FakeCall[] = []
  const find = (handle: SandboxHandle): FakeSandbox => {
    const sandbox = sandboxes.get(keyOf(handle))
    if (!sandbox) throw new SandboxGone(`sandbox ${keyOf(handle)} is gone`)
    return sandbox
  }
  const forget = (key: string): FakeSandbox | undefined => {
    const sandbox = sandboxes.get(key)
    sandboxes.delete(key)
    if (sandbox) frozen.delete(sandbox.handle.dockId)
    return sandbox
  }
  const keysOf = (dockId: string): string[] => [...sandboxes.keys()].filter((key) => key.startsWith(dockId))
  return {
    executed: [] as ExecRequest[],
    rejoined: [] as ExecReference[],
    ended: [] as ExecReference[],
    started: [] as SandboxSpec[],
    held,
    frozen,
    outdated: new Set<string>(),
    renamed: new Map<string, string>(),
    processes: new Map<string, readonly string[]>(),
    usages: new Map<string, SandboxUsage>(),
    /** Commands that run or whose exit code nobody has read yet, by mark. */
    commands: new Map<string, FakeCommand>(),
    /** Running processes with streams, by mark. */
    localProcesses: new Map<string, LocalProcess>(),
    /** Waits while the call is held. Throws the error of `failNext`. */
    enter: async (call: FakeCall, dockId: string, program?: string): Promise<void> => {
      if (gates.has(call)) held.push(call)
      // A command is recorded in the order in which commands begin.
      const delay = call === 'exec' ? undefined : fakeDelay()
      if (delay) await delay
      await gates.get(call)
      const failure = failures.get(call)
      const only = failure?.only
      if (!failure || (only && (only.dockId !== dockId || only.program !== program))) return
      failures.delete(call)
      throw failure.error
    },
    failNext: (call: FakeCall, error: Error, only?: CallTarget): void =>
      void failures.set(call, { error, only }),
    hold: (call: FakeCall): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      gates.set(call, promise)
      return () => {
        gates.delete(call)
        resolve()
      }
    },
    add: (handle: SandboxHandle): void => {
      const { promise: dead, resolve: die } = Promise.withResolvers<void>()
      sandboxes.set(keyOf(handle), { handle, die, dead, frozen: undefined })
    },
    find,
    has: (handle: SandboxHandle): boolean => sandboxes.has(keyOf(handle)),
    list: (): SandboxHandle[] => [...sandboxes.values()].map(({ handle }) => handle),
    end: (handle: SandboxHandle): void => forget(keyOf(handle))?.die(),
    /** Waits until the sandbox is not frozen, like a real runtime. Throws if the sandbox ends meanwhile. */
    awake: async (handle: SandboxHandle): Promise<FakeSandbox> => {
      const sandbox = find(handle)
      if (sandbox.frozen) await Promise.race([sandbox.frozen.thawed, sandbox.dead])
      return find(handle)
    },
    isAlive: (dockId: string): boolean => keysOf(dockId).length > 0,
    kill: (dockId: string): void => {
      for (const key of keysOf(dockId)) forget(key)?.die()
    },
    killWithoutNotice: (dockId: string): void => {
      for (const key of keysOf(dockId)) forget(key)
    },
  }
}
