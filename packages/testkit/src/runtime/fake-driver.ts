/** An in-memory runtime for tests of its users. It supports the commands `echo …`, `exit N` and `true`. */
import {
  ExecRefused,
  type ExecRequest,
  type ExecResult,
  type RuntimeDriver,
  SandboxGone,
  type SandboxHandle,
  type SandboxProcess,
  type SandboxUsage,
} from '@dock/runtime'
import { createFakeTerminal, type FakeTerminal } from './fake-terminal.ts'

type FakeSandbox = {
  handle: SandboxHandle
  died: Promise<void>
  die: () => void
  /** `thawed` resolves at the thaw. Undefined while the sandbox is not frozen. */
  frozen: { thawed: Promise<void>; thaw: () => void } | undefined
  /** Processes besides those of the platform. */
  processes: SandboxProcess[]
  usage: SandboxUsage
  terminals: FakeTerminal[]
}

/**
 * The sandboxes of a simulated machine. Drivers that share it see the same sandboxes, like a driver after a restart.
 */
export type FakeMachine = Map<string, FakeSandbox>

/** A driver with all optional methods, and controls for tests. */
export type FakeDriver = Required<RuntimeDriver> & {
  /** Ends a sandbox like a crash, without cleanup. */
  crash(handle: SandboxHandle): void
  /** Makes the next start fail with this error. */
  failNextStart(error: Error): void
  isFrozen(handle: SandboxHandle): boolean
  /** Sets what `processes` returns besides process 1. */
  setProcesses(handle: SandboxHandle, processes: SandboxProcess[]): void
  setUsage(handle: SandboxHandle, usage: SandboxUsage): void
  /** The terminals opened in a sandbox, oldest first. */
  terminals(handle: SandboxHandle): readonly FakeTerminal[]
}

const keyOf = (handle: { dockId: string; generation: number }): string =>
  `${handle.dockId}/${handle.generation}`

const init: SandboxProcess = { pid: 1, parentPid: 0, uid: 0, name: 'init', isPlatform: true }

/** Creates a driver on `machine`, by default a new one. */
export function createFakeDriver(machine: FakeMachine = new Map()): FakeDriver {
  let startError: Error | undefined
  let pid = 1
  const sandboxOf = (handle: SandboxHandle): FakeSandbox => {
    const sandbox = machine.get(keyOf(handle))
    if (!sandbox) throw new SandboxGone(`sandbox ${keyOf(handle)} is gone`)
    return sandbox
  }
  /** Waits until the sandbox is not frozen, like a real runtime. Throws if the sandbox ends meanwhile. */
  const awake = async (handle: SandboxHandle): Promise<FakeSandbox> => {
    const { frozen, died } = sandboxOf(handle)
    if (frozen) await Promise.race([frozen.thawed, died])
    return sandboxOf(handle)
  }
  const end = (handle: SandboxHandle): void => {
    const sandbox = machine.get(keyOf(handle))
    machine.delete(keyOf(handle))
    for (const terminal of sandbox?.terminals ?? []) terminal.kill()
    sandbox?.die()
  }
  return {
    name: 'gvisor',
    fingerprint: async () => ({ driver: 'fake', version: '1', detail: {} }),
    start: async (spec) => {
      const error = startError
      startError = undefined
      if (error) throw error
      const { dockId, generation } = spec
      const handle: SandboxHandle = { driver: 'fake', version: 1, dockId, generation, data: {} }
      const { promise: died, resolve: die } = Promise.withResolvers<void>()
      const usage = { cpuUsec: 0, memoryBytes: 0 }
      const sandbox = { handle, died, die, frozen: undefined, processes: [], usage, terminals: [] }
      machine.set(keyOf(spec), sandbox)
      return handle
    },
    recover: async (handle) => (machine.has(keyOf(handle)) ? 'running' : 'gone'),
    wait: async (handle) => machine.get(keyOf(handle))?.died,
    exec: async (handle, request) => {
      await awake(handle)
      const result = simulate(request)
      pid += 1
      request.onStarted?.({ pid, mark: String(pid) })
      if (result.stdout.length > 0) request.onOutput?.('stdout', result.stdout)
      return result
    },
    destroy: async (handle) => end(handle),
    list: async () => [...machine.values()].map((each) => each.handle),
    freeze: async (handle) => {
      const sandbox = sandboxOf(handle)
      if (sandbox.frozen) return
      const { promise: thawed, resolve: thaw } = Promise.withResolvers<void>()
      sandbox.frozen = { thawed, thaw }
    },
    thaw: async (handle) => {
      const sandbox = sandboxOf(handle)
      sandbox.frozen?.thaw()
      sandbox.frozen = undefined
    },
    processes: async (handle) => [init, ...(await awake(handle)).processes],
    watchMemory: () => undefined,
    usage: async (handle) => sandboxOf(handle).usage,
    isOutdated: () => false,
    rename: async (handle) => void (await awake(handle)),
    openTerminal: async (handle, request) => {
      const sandbox = await awake(handle)
      const terminal = createFakeTerminal(request)
      sandbox.terminals.push(terminal)
      return terminal
    },
    waitForExec: async (handle) => {
      await awake(handle)
      return undefined
    },
    abandonedExecs: async (handle) => {
      await awake(handle)
      return []
    },
    endExec: async (handle) => void (await awake(handle)),
    crash: end,
    failNextStart: (error) => {
      startError = error
    },
    isFrozen: (handle) => sandboxOf(handle).frozen !== undefined,
    setProcesses: (handle, processes) => {
      sandboxOf(handle).processes = processes
    },
    setUsage: (handle, usage) => {
      sandboxOf(handle).usage = usage
    },
    terminals: (handle) => sandboxOf(handle).terminals,
  }
}

const simulate = ({ argv, outputLimitBytes }: ExecRequest): ExecResult => {
  const script = argv.at(-1) ?? ''
  const exit = /^exit (\d+)$/.exec(script)
  const echo = /^echo (.*)$/.exec(script)
  if (!exit && !echo && script !== 'true')
    throw new ExecRefused(`the fake runtime does not support: ${script}`)
  const output = Buffer.from(echo ? `${echo[1]}\n` : '')
  return {
    exitCode: Number(exit?.[1] ?? 0),
    stdout: output.subarray(0, outputLimitBytes),
    stderr: Buffer.alloc(0),
    durationMs: 1,
    truncated: output.length > outputLimitBytes,
    timedOut: false,
  }
}
