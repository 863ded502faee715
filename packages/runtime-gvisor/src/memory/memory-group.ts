/**
 * The memory of a sandbox's control group, for the guard. Version 1 can disable the kernel's OOM killer and notifies an
 * eventfd at thresholds. Version 2 has `memory.high` below the hard limit and a file of events. `script/prove
 * cgroup-v2` tests version 2 (decision 022).
 */
import { closeSync, type FSWatcher, openSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EventCounter } from './event-counter.ts'

export type MemoryReading = {
  /** All charged memory, including the page cache. */
  chargedBytes: number
  /** True if the group is blocked at its limit: nothing in it can allocate another page. */
  isStuck: boolean
}

export type MemoryGroup = {
  read(): MemoryReading
  /** Charged bytes without the page cache, which the kernel reclaims on its own. */
  usedBytes(): number
  /** Throws if the kernel cannot shrink the group to the limit now. */
  setLimit(bytes: number): void
  /** Enables or disables the kernel's OOM killer for the group. Version 2 cannot disable it. */
  setKernelKills(kills: boolean): void
  /** Number of processes in the group that the kernel killed because memory ran out. */
  kernelKills(): number
  /** Calls `rung` when charged bytes cross one of `thresholds` or hit the limit. The returned function stops this. */
  listen(thresholds: readonly number[], rung: () => void): () => void
}

const field = (text: string, name: string): number =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)

const memoryOne = (folder: string): MemoryGroup => {
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8')
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text)
  const charged = (): number => Number(read('memory.usage_in_bytes'))
  return {
    read: () => ({
      chargedBytes: charged(),
      isStuck: field(read('memory.oom_control'), 'under_oom') === 1,
    }),
    usedBytes: () => {
      const statistics = read('memory.stat')
      return charged() - field(statistics, 'total_inactive_file') - field(statistics, 'total_active_file')
    },
    setLimit: (bytes) => write('memory.limit_in_bytes', String(bytes)),
    setKernelKills: (kills) => write('memory.oom_control', kills ? '0' : '1'),
    kernelKills: () => field(read('memory.oom_control'), 'oom_kill'),
    listen: (thresholds, rung) => {
      const counter = new EventCounter(rung)
      const ring = (file: string, argument: string): void => {
        const fd = openSync(join(folder, file), 'r')
        try {
          write('cgroup.event_control', `${counter.fd} ${fd} ${argument}`)
        } finally {
          closeSync(fd)
        }
      }
      try {
        for (const bytes of thresholds) ring('memory.usage_in_bytes', String(bytes))
        ring('memory.oom_control', '')
      } catch (error) {
        counter.close()
        throw error
      }
      return () => counter.close()
    },
  }
}

const memoryTwo = (folder: string): MemoryGroup => {
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8')
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text)
  const charged = (): number => Number(read('memory.current'))
  let seenMax = field(read('memory.events'), 'max')
  return {
    read: () => {
      const max = field(read('memory.events'), 'max')
      const isStuck = max > seenMax
      seenMax = max
      return { chargedBytes: charged(), isStuck }
    },
    usedBytes: () => {
      const statistics = read('memory.stat')
      return charged() - field(statistics, 'inactive_file') - field(statistics, 'active_file')
    },
    setLimit: (bytes) => write('memory.max', String(bytes)),
    setKernelKills: () => undefined,
    kernelKills: () => field(read('memory.events'), 'oom_kill'),
    listen: (thresholds, rung) => {
      // Above memory.high the kernel throttles the group, which gives the guard time.
      write('memory.high', String(Math.max(...thresholds)))
      const watcher: FSWatcher = watch(join(folder, 'memory.events'), { persistent: false }, rung)
      watcher.on('error', () => undefined)
      return () => watcher.close()
    },
  }
}

/** Returns the memory group in `folder`, for this version of control groups. */
export function memoryGroup(version: 1 | 2, folder: string): MemoryGroup {
  return version === 1 ? memoryOne(folder) : memoryTwo(folder)
}
