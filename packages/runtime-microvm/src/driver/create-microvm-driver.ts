/** The runtime driver for microVMs. */
import type { Logger } from '@dock/foundation'
import {
  type OutOfMemory,
  type RuntimeDriver,
  SandboxGone,
  type SandboxHandle,
  signalNumbers,
} from '@dock/runtime'
import { GuestRefused } from '../link/index.ts'
import type { Machines } from '../machine/open-machines.ts'
import { machineHeadroomMiB } from '../machine/qemu/qemu-vmm.ts'
import { PumpClient } from '../pump/pump-client.ts'
import { endOfCarried } from './carried-program.ts'
import { endLeft } from './end-left.ts'
import { channelOf, referenceTo } from './guest-mark.ts'
import { GuestSession } from './guest-session.ts'
import { machineName, parseMachineName } from './machine-name.ts'
import { openProgram } from './open-program.ts'
import { exitCodeOf, runCommand } from './run-command.ts'
import { startMachine } from './start-machine.ts'

/** Sessions by the name of their machine. A guest serves one link, so all drivers of a process share them. */
export type Sessions = Map<string, GuestSession>

export type MicrovmOptions = {
  /** Prepares what lies below the guests. Called once, when it is needed. */
  open: () => Promise<Machines>
  /** Socket of the pump. Its path must be short. */
  pumpSocket: string
  sessions?: Sessions
  logger: Logger
}

const driverName = 'microvm'
const handleVersion = 1

/** Creates a driver. It checks nothing before `fingerprint`. */
export function createMicrovmDriver(options: MicrovmOptions): RuntimeDriver {
  const { open, logger, sessions = new Map() } = options
  const pump = new PumpClient(options.pumpSocket)
  /** Channels of the programs that this driver opened, by machine. */
  const underWay = new Map<string, Set<number>>()
  let opened: Promise<Machines> | undefined
  /** Name of the tree that new machines run from. */
  let currentTree: string | undefined
  let onOutOfMemory = (_event: OutOfMemory): void => undefined

  const machines = (): Promise<Machines> => {
    opened ??= open().then((ready) => {
      currentTree = ready.tree.name
      return ready
    })
    opened.catch(() => {
      opened = undefined
    })
    return opened
  }
  const handleOf = (name: string, tree?: string): SandboxHandle => ({
    ...{ driver: driverName, version: handleVersion, ...parseMachineName(name)! },
    data: tree === undefined ? {} : { tree },
  })
  const nameOf = ({ dockId, generation }: SandboxHandle): string => machineName(dockId, generation)
  const adopt = (session: GuestSession, { dockId, generation }: SandboxHandle): GuestSession => {
    const { id } = session.machine
    sessions.set(id, session)
    session.onOutOfMemory = ({ process }) => onOutOfMemory({ dockId, generation, process })
    void session.ended.then(() => {
      if (sessions.get(id) === session) sessions.delete(id)
      underWay.delete(id)
    })
    return session
  }
  const takeOver = async (handle: SandboxHandle): Promise<GuestSession | null> => {
    const machine = await (await machines()).vmm.find(nameOf(handle))
    return machine && adopt(new GuestSession(machine, logger), handle)
  }
  const finding = new Map<string, Promise<GuestSession | null>>()
  /** Returns null if the machine does not run. A machine's monitor serves one connection, so it is taken over once. */
  const find = async (handle: SandboxHandle): Promise<GuestSession | null> => {
    const name = nameOf(handle)
    const known = sessions.get(name)
    if (known) return known.isAlive ? known : null
    const found = finding.get(name) ?? takeOver(handle).finally(() => finding.delete(name))
    finding.set(name, found)
    return await found
  }
  const sessionOf = async (handle: SandboxHandle): Promise<GuestSession> => {
    const session = await find(handle)
    if (!session) throw new SandboxGone(`machine ${nameOf(handle)} is gone`)
    return session
  }
  const underWayIn = ({ machine }: GuestSession): Set<number> => {
    const known = underWay.get(machine.id) ?? new Set()
    underWay.set(machine.id, known)
    return known
  }

  return {
    name: driverName,
    takesDisk: 'device',
    memoryHeadroomMiB: machineHeadroomMiB,
    capabilities: {
      blanks: null,
      freezing: {
        freeze: async (handle) => {
          const isConsistent = await (await sessionOf(handle)).freeze()
          if (!isConsistent)
            logger.warn(
              { machine: nameOf(handle) },
              'a guest did not write its memory to disk before it was paused',
            )
          return isConsistent
        },
        thaw: async (handle) => (await sessionOf(handle)).thaw(),
      },
      readUsage: async (handle) => {
        const session = await sessionOf(handle)
        return await session.follow((async () => session.machine.usage())())
      },
      rename: async (handle, hostname) => (await sessionOf(handle)).ask((link) => link.rename(hostname)),
      isOutdated: ({ data }) => currentTree !== undefined && data['tree'] !== currentTree,
      watchMemory: (listener) => {
        onOutOfMemory = listener
      },
      // The guest's agent goes on reading what a program leaves behind.
      keepLeftOutputs: null,
    },
    fingerprint: async () => {
      const { release, choice, vmm } = await machines()
      for (const name of await vmm.list()) if (!parseMachineName(name)) await vmm.remove(name)
      const detail = { kernel: release.kernelVersion, accelerator: choice.accelerator }
      const found = { driver: driverName, version: release.qemuVersion, detail }
      return choice.accelerator === 'tcg' ? { ...found, isEmulated: true } : found
    },
    readRelease: async () => ({ version: (await machines()).release.qemuVersion }),
    start: async (spec) => {
      const handle = handleOf(machineName(spec.dockId, spec.generation), (await machines()).tree.name)
      adopt(await startMachine(await machines(), spec, logger), handle)
      return handle
    },
    recover: async (handle) => ((await find(handle)) ? 'running' : 'gone'),
    wait: async (handle) => {
      const session = await find(handle)
      await session?.ended
      const { dockId, generation } = handle
      if (session?.machine.ranOutOfMemory) onOutOfMemory({ dockId, generation, process: null })
    },
    destroy: async (handle) => {
      const name = nameOf(handle)
      const { vmm } = await machines()
      const session = sessions.get(name)
      if (session) await session.machine.kill()
      else await vmm.remove(name)
      // A pump that does not end now ends when it has been of no use for a while.
      if (sessions.size === 0)
        await pump
          .end()
          .catch((error: unknown) => logger.warn({ err: error }, 'could not end the pump of microVMs'))
    },
    list: async () => {
      const names = await (await machines()).vmm.list()
      return names.filter(parseMachineName).map((name) => handleOf(name))
    },

    exec: async (handle, request) => {
      const session = await sessionOf(handle)
      return runCommand(session, request, underWayIn(session))
    },
    waitForExec: async (handle, reference) => {
      const id = channelOf(reference)
      if (id === null) return undefined
      const session = await sessionOf(handle)
      if (reference.carried) return exitCodeOf(await endOfCarried(session, pump, id))
      try {
        const program = await session.ask((link) => link.attach(id))
        const isOurs = session.owned.has(id)
        if (!isOurs) for (const output of [program.stdout, program.stderr]) output.resume()
        const code = exitCodeOf(await session.follow(program.exited))
        if (!isOurs) void program.close()
        return code
      } catch (error) {
        if (error instanceof GuestRefused) return undefined
        throw error
      }
    },
    abandonedExecs: async (handle) => {
      const session = await sessionOf(handle)
      const ours = underWayIn(session)
      // One that ends while the guest lists them may be in the list as running.
      const oursBefore = new Set(ours)
      const programs = await session.ask((link) => link.programs())
      return programs
        .filter(({ id, hasEnded }) => !hasEnded && !ours.has(id) && !oursBefore.has(id))
        .map(referenceTo)
    },
    endExec: async (handle, reference) => {
      const id = channelOf(reference)
      const session = await sessionOf(handle)
      if (id === null) return
      // The pump has the input of a program that it carries.
      if (!reference.carried && !underWayIn(session).has(id)) await endLeft(session, id)
      else await session.ask((link) => link.signal(id, signalNumbers.KILL, 'tree'))
    },

    openProcess: async (handle, request) => {
      const session = await sessionOf(handle)
      return openProgram(session, pump, request, underWayIn(session))
    },
    signalProcess: async (handle, reference, signal, target) => {
      const id = channelOf(reference)
      const session = await sessionOf(handle)
      if (id !== null) await session.ask((link) => link.signal(id, signalNumbers[signal], target))
    },
    resizeProcess: async (handle, reference, cols, rows) => {
      const id = channelOf(reference)
      const session = await sessionOf(handle)
      if (id !== null && reference.pty) await session.ask((link) => link.resize(id, cols, rows))
    },
    processes: async (handle) => (await sessionOf(handle)).ask((link) => link.processes()),
  }
}
