/**
 * The number of processors that programs in a sandbox see. runsc shows as many as the cpuset of the sandbox's group has when
 * it starts, and programs start as many jobs and threads. The sandbox may run on all processors afterwards: its quota
 * limits it, and one that is bound to a busy processor would wait for it.
 */
import { readFileSync } from 'node:fs'
import type { CgroupMount } from './sandbox-cgroup.ts'

/** The first processor of the next boot: boots at the same time should not share one. */
let next = 0

/** Returns the ids in a list of the kernel's form, such as `0-2,5`. */
export function parseCpuList(list: string): number[] {
  return list
    .trim()
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = 0, last = first] = part.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
}

/** Returns a list of `cpus` of the processors in `list`, or undefined if it has no more than that. */
export function chooseCpus(list: string, cpus: number): string | undefined {
  const ids = parseCpuList(list)
  if (ids.length <= cpus) return undefined
  const chosen = Array.from({ length: cpus }, (_, index) => ids[(next + index) % ids.length]!)
  next = (next + cpus) % ids.length
  return chosen.toSorted((one, other) => one - other).join(',')
}

const allowedCpus = (): string =>
  /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? ''

/** Returns the processors that a sandbox of this size boots on. Undefined: all, or the host has no cpusets. */
export function bootCpus(mounts: readonly CgroupMount[], cpus: number): string | undefined {
  const hasCpusets = mounts.some(
    ({ version, controllers }) => version === 2 || controllers.includes('cpuset'),
  )
  return hasCpusets ? chooseCpus(allowedCpus(), cpus) : undefined
}
