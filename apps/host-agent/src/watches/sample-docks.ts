/** Samples each Dock's resource use every ten seconds from files on the host, without waking any Dock. */
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock, Logger } from '@dock/foundation'
import type { UsageSample } from '@dock/host-protocol'
import { type RuntimeDriver, SandboxGone } from '@dock/runtime'
import type { DiskPool } from '../disks/pool.ts'
import type { Networks } from '../network/networks.ts'
import type { DockEvents } from '../sandboxes/dock-events.ts'
import type { RunningDock } from '../sandboxes/dock-state.ts'

const periodMs = 10_000
const mebibyte = 2 ** 20

export type SampleParts = {
  docks: { running(): RunningDock[] }
  driver: RuntimeDriver
  disks: Pick<DiskPool, 'usage'>
  networks: Pick<Networks, 'traffic'>
  events: DockEvents
  clock: Clock
  logger: Logger
}

type CpuTime = { generation: number; cpuUsec: number; atMs: number }

/** Starts sampling and returns a function that stops it. Does nothing if the driver cannot measure usage. */
export function sampleDocks(parts: SampleParts): () => void {
  const { docks, driver, disks, networks, events, clock, logger } = parts
  const { readUsage } = driver.capabilities
  if (!readUsage) return () => {}
  let before = new Map<string, CpuTime>()

  const sampleOne = async (dock: RunningDock, times: Map<string, CpuTime>): Promise<UsageSample | null> => {
    const { dockId, generation, memoryMiB, sandbox } = dock
    const [usage, disk, traffic] = await Promise.all([
      readUsage(sandbox),
      disks.usage(dockId),
      networks.traffic(dockId),
    ])
    const now = clock.now()
    const time = { generation, cpuUsec: usage.cpuUsec, atMs: now.getTime() }
    times.set(dockId, time)
    return {
      ...{ dockId, generation, at: now.toISOString(), source: driver.name },
      cpuPercent: cpuPercent(before.get(dockId), time),
      ...{ memBytes: usage.memoryBytes, memLimit: memoryMiB * mebibyte },
      ...{ diskBytes: disk.usedBytes, diskLimit: disk.sizeBytes },
      ...{ rxBytes: traffic.rxBytes, txBytes: traffic.txBytes },
    }
  }

  const sampleAll = async (): Promise<void> => {
    const samples: UsageSample[] = []
    const times = new Map<string, CpuTime>()
    for (const dock of docks.running()) {
      // Skip a Dock that ended meanwhile or cannot be read.
      const sample = await sampleOne(dock, times).catch((error: unknown) => {
        if (!(error instanceof SandboxGone)) {
          logger.debug({ err: error, dockId: dock.dockId }, 'could not sample a Dock')
        }
        return null
      })
      if (sample) samples.push(sample)
      // Let other work run first.
      await turn()
    }
    before = times
    if (samples.length > 0) events.emit({ type: 'samples', samples })
  }

  let cancel = () => {}
  const again = (): void => {
    cancel = clock.after(periodMs, () => void sampleAll().finally(again))
  }
  again()
  return () => cancel()
}

/** Percent of one core: two busy cores are 200. Zero for the first sample of a generation. */
const cpuPercent = (before: CpuTime | undefined, now: CpuTime): number => {
  if (before?.generation !== now.generation || now.atMs <= before.atMs) return 0
  const percent = (now.cpuUsec - before.cpuUsec) / ((now.atMs - before.atMs) * 10)
  return Math.max(0, Math.round(percent * 10) / 10)
}
