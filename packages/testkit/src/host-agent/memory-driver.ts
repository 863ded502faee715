/** In-memory sandboxes for the agent's tests. A sandbox can be killed; each call can be made to fail or to wait. */
import {
  type ExecReference,
  type ExecRequest,
  type ExecResult,
  type RuntimeDriver,
  SandboxGone,
  type SandboxHandle,
  type SandboxSpec,
  type SandboxUsage,
} from '@dock/runtime'
import { createFakeTerminal, type FakeTerminal } from '../runtime/fake-terminal.ts'

type Call =
  | 'start'
  | 'exec'
  | 'execEnd'
  | 'waitForExec'
  | 'abandonedExecs'
  | 'destroy'
  | 'freeze'
  | 'thaw'
  | 'processes'

type CanFreeze = Required<
  Pick<
    RuntimeDriver,
    'freeze' | 'thaw' | 'processes' | 'usage' | 'rename' | 'waitForExec' | 'abandonedExecs' | 'endExec'
  >
>

export type MemoryDriver = RuntimeDriver &
  CanFreeze & {
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
    /** Terminals that were opened, oldest first. */
    readonly terminals: readonly FakeTerminal[]
    /** Makes the next call of this name throw the error. */
    failNext(call: Call, error: Error): void
    /** Makes calls of this name wait until the returned function is called. */
    hold(call: Call): () => void
    /** Ids of the Docks whose sandbox is frozen. */
    readonly frozen: ReadonlySet<string>
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

type Sandbox = {
  handle: SandboxHandle
  die: () => void
  dead: Promise<void>
  /** `thawed` resolves at the thaw. Undefined while the sandbox is not frozen. */
  frozen: { thawed: Promise<void>; thaw: () => void } | undefined
}

export function createMemoryDriver(): MemoryDriver {
  const sandboxes = new Map<string, Sandbox>()
  const executed: ExecRequest[] = []
  const rejoined: ExecReference[] = []
  const ended: ExecReference[] = []
  const underWay = new Map<string, { key: string; reference: ExecReference; end: () => void }>()
  const started: SandboxSpec[] = []
  const terminals: FakeTerminal[] = []
  const failures = new Map<Call, Error>()
  const gates = new Map<Call, Promise<void>>()
  const frozen = new Set<string>()
  const outdated = new Set<string>()
  const renamed = new Map<string, string>()
  const processes = new Map<string, readonly string[]>()
  const usages = new Map<string, SandboxUsage>()
  const step = async (call: Call): Promise<void> => {
    await gates.get(call)
    const error = failures.get(call)
    failures.delete(call)
    if (error) throw error
  }
  const keyOf = (handle: Pick<SandboxHandle, 'dockId' | 'generation'>) =>
    `${handle.dockId}/${handle.generation}`
  const end = (key: string) => {
    const sandbox = sandboxes.get(key)
    sandboxes.delete(key)
    if (sandbox) frozen.delete(sandbox.handle.dockId)
    sandbox?.die()
  }
  const find = (handle: SandboxHandle): Sandbox => {
    const sandbox = sandboxes.get(keyOf(handle))
    if (!sandbox) throw new SandboxGone('no such sandbox')
    return sandbox
  }
  /** Waits until the sandbox is not frozen, like a real runtime. */
  const awake = async (handle: SandboxHandle): Promise<void> => {
    const sandbox = find(handle)
    if (sandbox.frozen) await Promise.race([sandbox.frozen.thawed, sandbox.dead])
    find(handle)
  }
  return {
    name: 'gvisor',
    executed,
    rejoined,
    ended,
    started,
    terminals,
    frozen,
    renamed,
    setProcesses: (dockId, names) => void processes.set(dockId, names),
    setUsage: (dockId, usage) => void usages.set(dockId, usage),
    failNext: (call, error) => void failures.set(call, error),
    hold: (call) => {
      let open = () => {}
      gates.set(call, new Promise((resolve) => (open = resolve)))
      return () => {
        gates.delete(call)
        open()
      }
    },
    isAlive: (dockId) => [...sandboxes.values()].some(({ handle }) => handle.dockId === dockId),
    kill: (dockId) => {
      for (const key of [...sandboxes.keys()]) if (key.startsWith(dockId)) end(key)
    },
    killWithoutNotice: (dockId) => {
      for (const key of [...sandboxes.keys()]) if (key.startsWith(dockId)) sandboxes.delete(key)
    },
    fingerprint: async () => ({ driver: 'memory', version: '1', detail: {} }),
    start: async (spec) => {
      await step('start')
      started.push(spec)
      const { dockId, generation } = spec
      const handle = { driver: 'memory', version: 1, dockId, generation, data: {} }
      let die = () => {}
      const dead = new Promise<void>((resolve) => (die = resolve))
      sandboxes.set(keyOf(handle), { handle, die, dead, frozen: undefined })
      return handle
    },
    recover: async (handle) => (sandboxes.has(keyOf(handle)) ? 'running' : 'gone'),
    wait: async (handle) => sandboxes.get(keyOf(handle))?.dead,
    exec: async (handle, request): Promise<ExecResult> => {
      await Promise.race([step('exec'), find(handle).dead])
      await awake(handle)
      executed.push(request)
      const reference = { pid: executed.length, mark: `mark-${executed.length}` }
      const { promise: isEnded, resolve: end } = Promise.withResolvers<void>()
      underWay.set(reference.mark, { key: keyOf(handle), reference, end })
      request.onStarted?.(reference)
      await Promise.race([request.input, find(handle).dead])
      const isEndless = request.argv.at(-1)?.startsWith('sleep ')
      await Promise.race([isEndless ? isEnded : step('execEnd'), find(handle).dead])
      underWay.delete(reference.mark)
      find(handle)
      const stdout = Buffer.from('out\n')
      return {
        exitCode: 0,
        stdout,
        stderr: Buffer.alloc(0),
        durationMs: 1,
        truncated: false,
        timedOut: false,
      }
    },
    openTerminal: async (handle, request) => {
      await awake(handle)
      const terminal = createFakeTerminal(request)
      terminals.push(terminal)
      void find(handle).dead.then(() => terminal.kill())
      return terminal
    },
    destroy: async (handle) => {
      await step('destroy')
      end(keyOf(handle))
    },
    freeze: async (handle) => {
      await step('freeze')
      const sandbox = find(handle)
      if (sandbox.frozen) return
      const { promise: thawed, resolve: thaw } = Promise.withResolvers<void>()
      sandbox.frozen = { thawed, thaw }
      frozen.add(handle.dockId)
    },
    thaw: async (handle) => {
      await step('thaw')
      const sandbox = find(handle)
      sandbox.frozen?.thaw()
      sandbox.frozen = undefined
      frozen.delete(handle.dockId)
    },
    processes: async (handle) => {
      await step('processes')
      await awake(handle)
      const own = { pid: 1, parentPid: 0, uid: 0, name: 's6-ipcserverd', isPlatform: true }
      const others = (processes.get(handle.dockId) ?? []).map((name, index) => ({
        ...{ pid: index + 10, parentPid: 1, uid: 1000, name, isPlatform: false },
      }))
      return [own, ...others]
    },
    isOutdated: ({ dockId, generation }) => generation === 0 && outdated.has(dockId),
    outdate: (dockId) => void outdated.add(dockId),
    rename: async (handle, hostname) => {
      await awake(handle)
      renamed.set(handle.dockId, hostname)
    },
    waitForExec: async (handle, reference) => {
      rejoined.push(reference)
      await step('waitForExec')
      await awake(handle)
      return reference.pid
    },
    abandonedExecs: async (handle) => {
      await step('abandonedExecs')
      await awake(handle)
      return [...underWay.values()].flatMap(({ key, reference }) => (key === keyOf(handle) ? reference : []))
    },
    endExec: async (handle, reference) => {
      await awake(handle)
      ended.push(reference)
      underWay.get(reference.mark)?.end()
    },
    usage: async (handle) => {
      find(handle)
      return usages.get(handle.dockId) ?? { cpuUsec: 0, memoryBytes: 0 }
    },
    list: async () => [...sandboxes.values()].map((sandbox) => sandbox.handle),
  }
}
