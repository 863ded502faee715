/** Runs machines in jailed QEMU processes, as {@link Vmm}. */
import { closeSync, constants, openSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { launchJailed } from '../jail/launch-jailed.ts'
import {
  checkMachineId,
  listMachineFolders,
  MachineFolder,
  type MachineRecord,
} from '../jail/machine-folder.ts'
import { MachineGroup } from '../jail/machine-group.ts'
import { findMachineProcess } from '../jail/machine-process.ts'
import type { MachineSpec, Vmm } from '../machine.ts'
import type { MachineTree } from '../machine-tree.ts'
import { joinTap, readGuestNetwork, tapName } from '../network/join-network.ts'
import { listenOnUnixSocket, openTap } from '../system/system-calls.ts'
import { tscKhz } from '../system/tsc-frequency.ts'
import { type Acceleration, portCount, qemuArguments } from './qemu-arguments.ts'
import { fileBytesMax, QemuMachine, removeMachine } from './qemu-machine.ts'
import { QmpClient, type QmpEvent } from './qmp-client.ts'

export type QemuVmmOptions = {
  tree: MachineTree
  /** Folder of the machines' folders. Its path must be short, because sockets lie in them. */
  stateDir: string
  accelerator: 'kvm' | 'tcg'
  /** How long a machine that is taken over has to answer. */
  answerMs?: number
}

export type QemuVmm = Vmm & { readonly accelerator: 'kvm' | 'tcg' }

const mebibyte = 2 ** 20
/** Memory of QEMU itself, beyond that of the guest. */
export const machineHeadroomMiB = 320
const kvmDevice = '/dev/kvm'
/** QEMU answers late while the host's disk is slow, and serves a monitor of an agent that is ending first. */
const answerMsDefault = 30_000
const answerPollMs = 100

/** Opens files and closes all of them at the end, also when one cannot be opened. */
class Descriptors {
  readonly #open: number[] = []

  keep(descriptor: number): number {
    this.#open.push(descriptor)
    return descriptor
  }

  file(path: string, flags: number): number {
    return this.keep(openSync(path, flags, 0o600))
  }

  close(): void {
    for (const descriptor of this.#open.splice(0)) closeSync(descriptor)
  }
}

/** Returns null if the machine ends meanwhile. Throws if it does not answer in time. */
const connectAgain = async (
  { id, path }: { id: string; path: string },
  onEvent: (event: QmpEvent) => void,
  isRunning: () => boolean,
  answerMs: number,
): Promise<QmpClient | null> => {
  const deadline = performance.now() + answerMs
  for (;;) {
    try {
      return await QmpClient.connect(path, onEvent, Math.max(0, deadline - performance.now()))
    } catch (error) {
      if (!isRunning()) return null
      if (performance.now() >= deadline)
        throw new Error(`machine ${id} runs but does not answer`, { cause: error })
      await delay(answerPollMs)
    }
  }
}

export function createQemuVmm(options: QemuVmmOptions): QemuVmm {
  const { tree, stateDir, accelerator, answerMs = answerMsDefault } = options
  const folderOf = (id: string): MachineFolder => new MachineFolder(stateDir, id)

  const readAcceleration = async (): Promise<Acceleration> =>
    accelerator === 'kvm' ? { kind: 'kvm' } : { kind: 'tcg', tscKhz: await tscKhz() }

  const openDescriptors = (
    open: Descriptors,
    spec: MachineSpec,
    folder: MachineFolder,
    incoming?: string,
  ) => {
    const { O_RDONLY, O_RDWR, O_WRONLY, O_CREAT, O_TRUNC, O_DIRECT } = constants
    return {
      monitor: open.keep(listenOnUnixSocket(folder.monitor)),
      ports: Array.from({ length: portCount }, (_, port) => open.keep(listenOnUnixSocket(folder.port(port)))),
      root: open.file(spec.disk, O_RDWR | O_DIRECT),
      modules: open.file(tree.moduleDisk, O_RDONLY | O_DIRECT),
      tap: open.keep(openTap(spec.netnsPath, tapName)),
      incoming: incoming === undefined ? null : open.file(incoming, O_RDONLY),
      outgoing:
        spec.memoryFile === undefined ? null : open.file(spec.memoryFile, O_WRONLY | O_CREAT | O_TRUNC),
      kvm: accelerator === 'kvm' ? open.file(kvmDevice, O_RDWR) : null,
    }
  }

  /** Starts the process of a machine whose folder exists. Returns the machine once QEMU takes commands. */
  const begin = async (spec: MachineSpec, folder: MachineFolder, incoming?: string): Promise<QemuMachine> => {
    const { id, cpus, memoryMiB, disk, netnsPath } = spec
    const group = MachineGroup.ofMachine(id)
    const [uid, network, acceleration, { size }] = await Promise.all([
      folder.chooseUid(id),
      netnsPath === null ? null : readGuestNetwork(netnsPath),
      readAcceleration(),
      stat(disk),
    ])
    const record: MachineRecord = {
      version: 1,
      ...{ id, uid, cpus, memoryMiB, disk, netnsPath, network, tree: tree.name },
    }
    await folder.write(record)
    group.create({ cpus, memoryBytes: (memoryMiB + machineHeadroomMiB) * mebibyte })
    const open = new Descriptors()
    let lastWords: Promise<string>
    try {
      const given = openDescriptors(open, spec, folder, incoming)
      lastWords = launchJailed({
        ...{ tree: tree.root, uid, groupFolders: group.folders },
        fileBytesMax: fileBytesMax(size, memoryMiB),
        ...qemuArguments(spec, acceleration, given),
      }).ended
    } finally {
      open.close()
    }
    let machine: QemuMachine | undefined
    const early: QmpEvent[] = []
    const onEvent = (event: QmpEvent): void => {
      if (machine) machine.handle(event)
      else early.push(event)
    }
    const joined = netnsPath === null || !network ? undefined : joinTap(netnsPath, network.mtu)
    try {
      const [monitor] = await Promise.all([QmpClient.connect(folder.monitor, onEvent), joined])
      machine = new QemuMachine(
        { id, size: { cpus, memoryMiB }, network, netnsPath, group, folder, lastWords },
        monitor,
      )
      for (const event of early) machine.handle(event)
      return machine
    } catch (error) {
      await joined?.catch(() => undefined)
      await group.kill()
      throw new Error(`machine ${id} did not start: ${await lastWords}`, { cause: error })
    }
  }

  const remove = async (id: string): Promise<void> => {
    const folder = folderOf(id)
    await removeMachine(MachineGroup.ofMachine(id), folder, (await folder.read())?.netnsPath ?? null)
  }

  const continueFrom = async (machine: QemuMachine, { id, disk }: MachineSpec): Promise<QemuMachine> => {
    try {
      await machine.continueFromMemory()
      await machine.resizeDisk((await stat(disk)).size)
      return machine
    } catch (error) {
      await machine.kill()
      throw new Error(`machine ${id} did not continue: ${await machine.ended}`, { cause: error })
    }
  }

  const start = async (spec: MachineSpec, incoming?: string): Promise<QemuMachine> => {
    checkMachineId(spec.id)
    const folder = folderOf(spec.id)
    await folder.create()
    try {
      const machine = await begin(spec, folder, incoming)
      return incoming === undefined ? machine : await continueFrom(machine, spec)
    } catch (error) {
      await remove(spec.id)
      throw error
    }
  }

  return {
    accelerator,
    launch: (spec) => start(spec),
    restore: (spec, memoryFile) => start(spec, memoryFile),

    find: async (id) => {
      const folder = folderOf(id)
      const record = await folder.read()
      const group = MachineGroup.ofMachine(id)
      const isRunning = (): boolean => findMachineProcess(group.pids()) !== null
      let machine: QemuMachine | undefined
      const onEvent = (event: QmpEvent): void => machine?.handle(event)
      const monitor =
        record &&
        isRunning() &&
        (await connectAgain({ id, path: folder.monitor }, onEvent, isRunning, answerMs))
      if (!record || !monitor) {
        // Ends its processes first, if it runs without a description.
        await remove(id)
        return null
      }
      const { cpus, memoryMiB, network, netnsPath } = record
      const parts = { id, size: { cpus, memoryMiB }, network, netnsPath, group, folder }
      machine = new QemuMachine({ ...parts, lastWords: undefined }, monitor)
      await machine.readState().catch(() => undefined)
      return machine
    },

    remove,
    list: () => listMachineFolders(stateDir),
  }
}

/** Returns true if this machine has the device by which a process uses hardware virtualization. */
export function hasKvm(): boolean {
  try {
    closeSync(openSync(kvmDevice, constants.O_RDWR))
    return true
  } catch {
    return false
  }
}
