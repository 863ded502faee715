/**
 * The control group of a sandbox, version 1 or 2: it is limited, frozen, thawed and measured by its files. A sandbox's group is its
 * own, named by its id: one that is not found so is never touched.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { SandboxUsage } from '@dock/runtime'

export type CgroupMount = { version: 1 | 2; controllers: string[]; root: string; path: string }

/** Path of a sandbox's group below the root of each hierarchy. */
export function cgroupPathOf(sandboxId: string): string {
  return `/dock/${sandboxId}`
}

/** Length of the periods in which processor time is shared out. */
export const cpuPeriodUs = 100_000
const freezeTimeoutMs = 5000
/** After this long an order to freeze is taken back and given again; twice as long the next time. */
const orderAgainMs = 100

/** Where this machine has its control groups mounted. */
export function readCgroupMounts(): CgroupMount[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [place, source] = line.split(' - ')
      const [type, , options] = source?.split(' ') ?? []
      const [, , , root, path] = place?.split(' ') ?? []
      if ((type !== 'cgroup' && type !== 'cgroup2') || !root || !path) return []
      return [{ version: type === 'cgroup' ? 1 : 2, controllers: options?.split(',') ?? [], root, path }]
    })
}

const controllersNeeded = ['cpu', 'cpuacct', 'freezer', 'memory']

/** Throws with what to do where a sandbox could not be limited, frozen and measured. */
export function requireCgroups(mounts: readonly CgroupMount[]): void {
  const missing = controllersNeeded.filter(
    (each) => !mounts.some(({ version, controllers }) => version === 2 || controllers.includes(each)),
  )
  if (missing.length === 0) return
  throw new Error(
    `no control groups for ${missing.join(', ')} are mounted here: mount them, or start where they are seen ` +
      '(`ip netns exec` hides them, `nsenter --net` does not)',
  )
}

export class SandboxCgroup {
  readonly #mounts: readonly CgroupMount[]
  readonly #lines: string[]
  readonly #id: string

  /** `membership` is the text of `/proc/PID/cgroup` of a process of the sandbox of this id. */
  constructor(mounts: readonly CgroupMount[], membership: string, id: string) {
    this.#mounts = mounts
    this.#lines = membership.trim().split('\n')
    this.#id = id
  }

  /** The group of a sandbox whose process on this machine is `pid`. Throws when that is gone. */
  static ofProcess(mounts: readonly CgroupMount[], pid: number, id: string): SandboxCgroup {
    return new SandboxCgroup(mounts, readFileSync(`/proc/${pid}/cgroup`, 'utf8'), id)
  }

  /** The group of a sandbox that may have no process yet, or none that is known. */
  static named(mounts: readonly CgroupMount[], id: string): SandboxCgroup {
    const lines = mounts.map(({ version, controllers, root }) => {
      const path = `${root === '/' ? '' : root}${cgroupPathOf(id)}`
      return version === 2 ? `0::${path}` : `1:${controllers.join(',')}:${path}`
    })
    return new SandboxCgroup(mounts, lines.join('\n'), id)
  }

  /** From now on it gets no more processor time than this many processors have. */
  limitCpus(cpus: number): void {
    const quota = String(Math.round(cpus * cpuPeriodUs))
    const one = this.#folder('cpu')
    if (one) writeFileSync(join(one, 'cpu.cfs_quota_us'), quota)
    else writeFileSync(this.#unified('cpu.max'), `${quota} ${cpuPeriodUs}`)
  }

  /** From now on it gets as much of busy processors as any other sandbox. */
  shareEqually(): void {
    const one = this.#folder('cpu')
    if (one) writeFileSync(join(one, 'cpu.shares'), '1024')
    else writeFileSync(this.#unified('cpu.weight'), '100')
  }

  /** Orders every process to stop, and waits for nothing. */
  orderFreeze(): void {
    const one = this.#folder('freezer')
    if (one) writeFileSync(join(one, 'freezer.state'), 'FROZEN')
    else writeFileSync(this.#unified('cgroup.freeze'), '1')
  }

  /** Stops every process; resolves when all stand still. */
  async freeze(): Promise<void> {
    const one = this.#folder('freezer')
    const isFrozen = one
      ? () => readFileSync(join(one, 'freezer.state'), 'utf8').trim() === 'FROZEN'
      : () => readFileSync(this.#unified('cgroup.events'), 'utf8').includes('frozen 1')
    const stands = await untilFrozen({
      freeze: () => this.orderFreeze(),
      isFrozen,
      thaw: () => this.thaw(),
    })
    if (!stands) throw new Error(`sandbox ${this.#id} could not be frozen`)
  }

  thaw(): void {
    const one = this.#folder('freezer')
    if (one) writeFileSync(join(one, 'freezer.state'), 'THAWED')
    else writeFileSync(this.#unified('cgroup.freeze'), '0')
  }

  /** Numbers of all its threads. */
  threads(): number[] {
    const one = this.#folder('freezer')
    const file = one ? join(one, 'tasks') : this.#unified('cgroup.threads')
    return readFileSync(file, 'utf8').trim().split('\n').map(Number)
  }

  /** Where its memory is limited. Throws when it has no group of its own. */
  memory(): { version: 1 | 2; folder: string } {
    const one = this.#folder('memory')
    return one ? { version: 1, folder: one } : { version: 2, folder: dirname(this.#unified('memory.max')) }
  }

  async usage(): Promise<SandboxUsage> {
    const [cpu, memory] = [this.#folder('cpuacct'), this.#folder('memory')]
    if (cpu && memory) {
      const [nanoseconds, bytes, statistics] = await Promise.all([
        readFile(join(cpu, 'cpuacct.usage'), 'utf8'),
        readFile(join(memory, 'memory.usage_in_bytes'), 'utf8'),
        readFile(join(memory, 'memory.stat'), 'utf8'),
      ])
      const cached = field(statistics, 'total_inactive_file')
      return { cpuUsec: Math.round(Number(nanoseconds) / 1000), memoryBytes: Number(bytes) - cached }
    }
    const [time, bytes, statistics] = await Promise.all([
      readFile(this.#unified('cpu.stat'), 'utf8'),
      readFile(this.#unified('memory.current'), 'utf8'),
      readFile(this.#unified('memory.stat'), 'utf8'),
    ])
    const cached = field(statistics, 'inactive_file')
    return { cpuUsec: field(time, 'usage_usec'), memoryBytes: Number(bytes) - cached }
  }

  #unified(file: string): string {
    const folder = this.#folder(undefined)
    if (!folder) throw new Error(`sandbox ${this.#id} has no control group of its own`)
    return join(folder, file)
  }

  /** Folder of a controller of version 1; of the one hierarchy of version 2 when none is named. */
  #folder(controller: string | undefined): string | undefined {
    const mount = this.#mounts.find((each) =>
      controller ? each.version === 1 && each.controllers.includes(controller) : each.version === 2,
    )
    const line = this.#lines.find((each) => {
      const [hierarchy, controllers] = each.split(':')
      return controller ? controllers?.split(',').includes(controller) : hierarchy === '0'
    })
    const path = line?.slice(line.indexOf(':', line.indexOf(':') + 1) + 1)
    if (!mount || !path || basename(path) !== this.#id) return undefined
    return join(mount.path, mount.root === '/' ? path : path.slice(mount.root.length))
  }
}

/**
 * Orders to freeze until all stand still, for five seconds and the last try, then lets go on and answers false. In version 1
 * a group may stay between the two for good, when it was ordered while a process was being made: it has to be let go and
 * ordered again.
 */
export async function untilFrozen(group: {
  freeze(): void
  isFrozen(): boolean
  thaw(): void
}): Promise<boolean> {
  const begin = performance.now()
  for (let patienceMs = orderAgainMs; performance.now() - begin < freezeTimeoutMs; patienceMs *= 2) {
    group.freeze()
    const again = performance.now() + patienceMs
    while (performance.now() < again) {
      if (group.isFrozen()) return true
      await delay(1)
    }
    group.thaw()
  }
  return false
}

const field = (text: string, name: string): number =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
