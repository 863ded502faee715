/** A runtime in memory, for tests of what stands above it. Understands `echo …`, `exit N` and `true`. */
import {
  ExecRefused,
  type ExecResult,
  type RuntimeDriver,
  SandboxGone,
  type SandboxHandle,
} from './driver.ts'

/** The sandboxes of one pretended machine: drivers that share it see each other's, as after a restart. */
export type FakeMachine = Map<string, { handle: SandboxHandle; died: Promise<void>; die: () => void }>

export type FakeDriver = RuntimeDriver & {
  /** Ends a sandbox as a crash would: nothing is cleaned up by it. */
  crash(handle: SandboxHandle): void
  /** Makes the next start fail with this error. */
  failNextStart(error: Error): void
}

const keyOf = (handle: { dockId: string; generation: number }): string =>
  `${handle.dockId}/${handle.generation}`

/** A driver on a pretended machine, its own unless one is given. */
export const createFakeDriver = (machine: FakeMachine = new Map()): FakeDriver => {
  let startError: Error | undefined
  const end = (handle: SandboxHandle): void => {
    machine.get(keyOf(handle))?.die()
    machine.delete(keyOf(handle))
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
      const { promise, resolve } = Promise.withResolvers<void>()
      machine.set(keyOf(spec), { handle, died: promise, die: resolve })
      return handle
    },
    recover: async (handle) => (machine.has(keyOf(handle)) ? 'running' : 'gone'),
    wait: async (handle) => machine.get(keyOf(handle))?.died,
    exec: async (handle, request) => {
      if (!machine.has(keyOf(handle))) throw new SandboxGone(`sandbox ${keyOf(handle)} is gone`)
      return simulate(request.argv.at(-1) ?? '', request.outputLimitBytes)
    },
    destroy: async (handle) => end(handle),
    list: async () => [...machine.values()].map((each) => each.handle),
    crash: end,
    failNextStart: (error) => {
      startError = error
    },
  }
}

const simulate = (script: string, outputLimitBytes: number): ExecResult => {
  const exit = /^exit (\d+)$/.exec(script)
  const echo = /^echo (.*)$/.exec(script)
  if (!exit && !echo && script !== 'true') throw new ExecRefused(`the fake runtime does not know: ${script}`)
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
