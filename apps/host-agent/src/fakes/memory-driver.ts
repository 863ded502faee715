/** Sandboxes in memory, for the agent's own tests: they can be killed, and each call can be made to fail or to wait. */
import {
  type ExecRequest,
  type ExecResult,
  type RuntimeDriver,
  SandboxGone,
  type SandboxHandle,
  type SandboxSpec,
} from '@dock/runtime'

type Call = 'start' | 'exec' | 'destroy'

export type MemoryDriver = RuntimeDriver & {
  /** Commands that were run, oldest first. */
  readonly executed: readonly ExecRequest[]
  /** What was started, oldest first. */
  readonly started: readonly SandboxSpec[]
  /** The next call of that name throws the error. */
  failNext(call: Call, error: Error): void
  /** Calls of that name wait until the answer is called. */
  hold(call: Call): () => void
  /** The sandbox of the Dock dies without an order. */
  kill(dockId: string): void
  /** The sandbox of the Dock dies while no agent is there to see it. */
  killUnseen(dockId: string): void
}

type Sandbox = { handle: SandboxHandle; die: () => void; dead: Promise<void> }

export const createMemoryDriver = (): MemoryDriver => {
  const sandboxes = new Map<string, Sandbox>()
  const executed: ExecRequest[] = []
  const started: SandboxSpec[] = []
  const failures = new Map<Call, Error>()
  const gates = new Map<Call, Promise<void>>()
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
    sandbox?.die()
  }
  return {
    name: 'gvisor',
    executed,
    started,
    failNext: (call, error) => void failures.set(call, error),
    hold: (call) => {
      let open = () => {}
      gates.set(call, new Promise((resolve) => (open = resolve)))
      return () => {
        gates.delete(call)
        open()
      }
    },
    kill: (dockId) => {
      for (const key of [...sandboxes.keys()]) if (key.startsWith(dockId)) end(key)
    },
    killUnseen: (dockId) => {
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
      sandboxes.set(keyOf(handle), { handle, die, dead })
      return handle
    },
    recover: async (handle) => (sandboxes.has(keyOf(handle)) ? 'running' : 'gone'),
    wait: async (handle) => sandboxes.get(keyOf(handle))?.dead,
    exec: async (handle, request): Promise<ExecResult> => {
      await step('exec')
      if (!sandboxes.has(keyOf(handle))) throw new SandboxGone('no such sandbox')
      executed.push(request)
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
    destroy: async (handle) => {
      await step('destroy')
      end(keyOf(handle))
    },
    list: async () => [...sandboxes.values()].map((sandbox) => sandbox.handle),
  }
}
