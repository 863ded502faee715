/**
 * The in-memory runtime of all tests; it passes the conformance suite. A sandbox can be killed; each call can be made
 * to fail or to wait. Commands print `out`, apart from `echo …`, `exit N`, and `sleep …`, which runs until it is ended.
 */
import { finished } from 'node:stream/promises'
import { newUuid } from '@dock/foundation'
import type {
  AllCapabilities,
  BlankSpec,
  ExecReference,
  ExecRequest,
  ExecResult,
  RuntimeCapabilities,
  RuntimeDriver,
  SandboxHandle,
} from '@dock/runtime'
import {
  createFakeMachine,
  type FakeCommand,
  type FakeControls,
  type FakeMachine,
  type FakeSandbox,
} from './fake-machine.ts'
import { openLocalProcess } from './local-process.ts'

/** A driver with all capabilities, and controls for tests. */
export type FakeDriver = RuntimeDriver & { readonly capabilities: AllCapabilities } & FakeControls

const noCapabilities: RuntimeCapabilities = {
  blanks: null,
  freezing: null,
  readUsage: null,
  rename: null,
  isOutdated: null,
  watchMemory: null,
  keepLeftOutputs: null,
}

/** Returns the driver as one that can only do what every driver must, and takes disks as devices. */
export function bareDriver(driver: FakeDriver): RuntimeDriver {
  return { ...driver, capabilities: noCapabilities, takesDisk: 'device' }
}

const killedExitCode = 137

/** Creates a driver on `machine`, by default a new one. */
export function createFakeDriver(machine: FakeMachine = createFakeMachine()): FakeDriver {
  const starter = Symbol('driver')
  const blanks = new Map<string, BlankSpec>()
  const { executed, rejoined, ended, started, held, frozen, renamed, commands } = machine
  const { enter, find, awake, localProcesses } = machine
  const commandsOf = (handle: SandboxHandle): FakeCommand[] => {
    const sandbox = find(handle)
    return [...commands.values()].filter((command) => command.sandbox === sandbox)
  }
  return {
    name: 'gvisor',
    takesDisk: 'mount',
    memoryHeadroomMiB: 128,
    capabilities: {
      blanks: {
        create: async (spec) => {
          blanks.set(spec.netnsPath, spec)
          return true
        },
        remove: async (netnsPath) => void blanks.delete(netnsPath),
      },
      freezing: {
        freeze: async (handle) => {
          await enter('freeze', handle.dockId)
          freeze(find(handle))
          frozen.add(handle.dockId)
          return true
        },
        thaw: async (handle) => {
          await enter('thaw', handle.dockId)
          const sandbox = find(handle)
          sandbox.frozen?.thaw()
          sandbox.frozen = undefined
          frozen.delete(handle.dockId)
        },
      },
      watchMemory: () => undefined,
      keepLeftOutputs: () => undefined,
      readUsage: async (handle) => {
        find(handle)
        return machine.usages.get(handle.dockId) ?? { cpuUsec: 0, memoryBytes: 0 }
      },
      isOutdated: ({ dockId, generation }) => generation === 0 && machine.outdated.has(dockId),
      rename: async (handle, hostname) => {
        await awake(handle)
        renamed.set(handle.dockId, hostname)
      },
    },
    ...{ executed, rejoined, ended, started, held, frozen, renamed, blanks },
    failNext: machine.failNext,
    hold: machine.hold,
    setProcesses: (dockId, names) => void machine.processes.set(dockId, names),
    setUsage: (dockId, usage) => void machine.usages.set(dockId, usage),
    isAlive: machine.isAlive,
    kill: machine.kill,
    killWithoutNotice: machine.killWithoutNotice,
    outdate: (dockId) => void machine.outdated.add(dockId),

    fingerprint: async () => ({ driver: 'fake', version: '1', detail: {} }),
    readRelease: async () => ({ version: '1' }),
    start: async (spec) => {
      blanks.delete(spec.netnsPath)
      await enter('start', spec.dockId)
      started.push(spec)
      const { dockId, generation } = spec
      const handle: SandboxHandle = { driver: 'fake', version: 1, dockId, generation, data: {} }
      machine.add(handle)
      return handle
    },
    recover: async (handle) => (machine.has(handle) ? 'running' : 'gone'),
    wait: async (handle) => (machine.has(handle) ? find(handle).dead : undefined),
    exec: async (handle, request) => {
      await Promise.race([enter('exec', handle.dockId), find(handle).dead])
      const sandbox = await awake(handle)
      executed.push(request)
      const reference = { pid: executed.length, mark: `mark-${executed.length}` }
      const killed = Promise.withResolvers<'killed'>()
      const exit = Promise.withResolvers<number | undefined>()
      const kill = () => killed.resolve('killed')
      commands.set(reference.mark, { sandbox, starter, reference, kill, exitCode: exit.promise })
      request.signal?.addEventListener('abort', kill)
      try {
        request.onStarted?.(reference)
        await Promise.race([request.input, sandbox.dead])
        const result = await Promise.race([
          run(machine, handle.dockId, request),
          killed.promise,
          sandbox.dead,
        ])
        find(handle)
        const { exitCode, output } =
          typeof result === 'object' ? result : { exitCode: killedExitCode, output: '' }
        exit.resolve(exitCode)
        const answer = toResult(request, exitCode, output)
        if (answer.stdout.length > 0) request.onOutput?.('stdout', answer.stdout)
        return answer
      } finally {
        commands.delete(reference.mark)
        exit.resolve(undefined)
      }
    },
    destroy: async (handle) => {
      await enter('destroy', handle.dockId)
      machine.end(handle)
    },
    list: async () => machine.list(),
    processes: async (handle) => {
      await enter('processes', handle.dockId)
      await awake(handle)
      const own = { pid: 1, parentPid: 0, uid: 0, name: 's6-ipcserverd', isPlatform: true }
      const others = (machine.processes.get(handle.dockId) ?? []).map((name, index) => ({
        ...{ pid: index + 10, parentPid: 1, uid: 1000, name, isPlatform: false },
      }))
      return [own, ...others]
    },
    openProcess: async (handle, request) => {
      const sandbox = await awake(handle)
      const opened = await openLocalProcess(request, `process-${newUuid()}`)
      const { reference } = opened
      localProcesses.set(reference.mark, opened)
      const exit = opened.exited.then(({ exitCode }) => exitCode ?? undefined)
      const kill = () => void opened.signal('KILL', 'tree')
      commands.set(reference.mark, { sandbox, starter, reference, kill, exitCode: exit })
      void sandbox.dead.then(kill)
      request.onStarted?.(reference)
      const gone = sandbox.dead.then(() => find(handle) && opened.exited)
      const exited = Promise.race([opened.exited, gone]).finally(() => void commands.delete(reference.mark))
      void sandbox.dead.then(() => exited.catch(() => undefined)).then(opened.finish)
      const outputs = [opened.stdout, opened.stderr].map((each) => each && finished(each))
      void Promise.allSettled([exited, ...outputs]).then(() => localProcesses.delete(reference.mark))
      for (const each of [gone, exited]) each.catch(() => undefined)
      return { ...opened, exited }
    },
    signalProcess: async (handle, { mark }, signal, target) => {
      await awake(handle)
      await localProcesses.get(mark)?.signal(signal, target)
    },
    resizeProcess: async (handle, { mark }, cols, rows) => {
      await awake(handle)
      localProcesses.get(mark)?.resize(cols, rows)
    },
    waitForExec: async (handle, reference) => {
      rejoined.push(reference)
      const exitCode = commands.get(reference.mark)?.exitCode
      await enter('waitForExec', handle.dockId)
      await awake(handle)
      return exitCode
    },
    abandonedExecs: async (handle) => {
      await enter('abandonedExecs', handle.dockId)
      await awake(handle)
      return commandsOf(handle).flatMap((each) => (each.starter === starter ? [] : [each.reference]))
    },
    endExec: async (handle, reference: ExecReference) => {
      await awake(handle)
      ended.push(reference)
      commands.get(reference.mark)?.kill()
    },
  }
}

const freeze = (sandbox: FakeSandbox): void => {
  if (sandbox.frozen) return
  const { promise: thawed, resolve: thaw } = Promise.withResolvers<void>()
  sandbox.frozen = { thawed, thaw }
}

const run = async ({ enter }: FakeMachine, dockId: string, { argv }: ExecRequest) => {
  const script = argv.at(-1) ?? ''
  if (script.startsWith('sleep ')) return new Promise<never>(() => undefined)
  await enter('execEnd', dockId, argv[0])
  const exit = /^exit (\d+)$/.exec(script)
  if (exit) return { exitCode: Number(exit[1]), output: '' }
  const echo = /^echo (.*)$/.exec(script)
  return { exitCode: 0, output: echo ? `${echo[1]}\n` : 'out\n' }
}

const toResult = ({ outputLimitBytes }: ExecRequest, exitCode: number, output: string): ExecResult => {
  const bytes = Buffer.from(output)
  return {
    exitCode,
    stdout: bytes.subarray(0, outputLimitBytes),
    stderr: Buffer.alloc(0),
    durationMs: 1,
    truncated: bytes.length > outputLimitBytes,
    timedOut: false,
  }
}
