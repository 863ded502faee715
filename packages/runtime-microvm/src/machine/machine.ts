/**
 * The interface to a virtual machine monitor: machines that run one kernel on one disk, with a byte stream to the agent in the
 * guest. A machine outlives the process that started it; {@link Vmm.find} takes it over. QEMU is behind it (qemu/qemu-vmm.ts);
 * decision 051 says how Firecracker would fit.
 */
import type { Duplex } from 'node:stream'
import type { GuestNetwork } from './network/join-network.ts'

/** What must be the same for a machine and the template that it is restored from. */
export type MachineSize = { cpus: number; memoryMiB: number }

export type MachineSpec = MachineSize & {
  /** Names the machine on this host: `a-z`, `0-9` and `-`. A later machine may have the name again once this one is gone. */
  id: string
  /** Path of the raw disk, which belongs to this machine alone. */
  disk: string
  /** Network namespace whose addresses the guest takes over, or null for a machine that is connected to nothing. */
  netnsPath: string | null
  /** File that {@link Machine.saveMemory} writes. A jailed machine can open no file later. */
  memoryFile?: string
}

/** Why a machine waits although nobody paused it. */
export type DiskStop = { reason: 'no-space' | 'error'; message: string }

export type Machine = {
  readonly id: string
  readonly size: MachineSize
  /** What the guest must configure for itself, or null without a network. */
  readonly network: GuestNetwork | null
  /** Resolves when the machine has ended for any reason, with what it printed last. It is not removed yet. */
  readonly ended: Promise<string>
  /** True once the machine has ended because the host's kernel killed it: the memory of its group or of the host ran out. */
  readonly ranOutOfMemory: boolean
  /** Stops the processors. On return all writes have reached the disk. Idempotent. */
  pause(): Promise<void>
  /** Idempotent. */
  resume(): Promise<void>
  /** Writes the memory of a paused machine to the file of its spec. The machine can only be killed afterwards. */
  saveMemory(): Promise<void>
  /** Grows the disk's file and tells the guest its size, also if it has it already. */
  resizeDisk(bytes: number): Promise<void>
  /** Unix socket of a port of the guest, for another process. */
  socketOf(port: number): string
  /** Connects to a port of the guest. Only one connection to a port at a time is served. */
  dial(port: number): Duplex
  /** Returns what the machine uses of the host. Throws if it has ended. */
  usage(): { cpuUsec: number; memoryBytes: number }
  /** Host process of the machine, or null once it has ended. */
  pid(): number | null
  /** From now on, calls `listener` when a write failed and the machine waits. It goes on by itself once a write succeeds. */
  watchDisk(listener: (stop: DiskStop) => void): void
  /** Gives up the connection, so that another process can take the machine over. */
  leave(): void
  /** Ends the machine if it still runs after `afterMs`, and removes everything but its disk. */
  kill(afterMs?: number): Promise<void>
}

export type Vmm = {
  /** Boots a machine. Resolves when its processors run, which is long before the guest's agent answers. */
  launch(spec: MachineSpec): Promise<Machine>
  /** As {@link Vmm.launch}, but continues from a saved memory, on another disk and network. */
  restore(spec: MachineSpec, memoryFile: string): Promise<Machine>
  /**
   * Takes over a machine that another process started. Returns null, and removes what is left, if it does not run. Throws,
   * and changes nothing, if it runs but does not answer.
   */
  find(id: string): Promise<Machine | null>
  /** Removes whatever is left of a machine. Idempotent. */
  remove(id: string): Promise<void>
  /** Returns the ids of all machines that run or left something behind. */
  list(): Promise<string[]>
}
