/**
 * The control group of a sandbox, version 1 or 2. Its files limit, freeze, thaw and measure the sandbox. The group is
 * named by the sandbox's id; a group with another name is never touched.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { removeControlGroups } from '@dock/foundation'
import type { SandboxUsage } from '@dock/runtime'

export type CgroupMount = { version: 1 | 2; controllers: string[]; root: string; path: string }

/** Returns the path of a sandbox's group, relative to the root of each hierarchy. */
export function cgroupPathOf(sandboxId: string): string {
  return `/dock/${sandboxId}`
}

/** Period of the CPU quota. */
export const cpuPeriodUs = 100_000
const freezeTimeoutMs = 5000
/** If the group is not frozen after this time, it is thawed and frozen again. The time doubles with each attempt. */
const retryAfterMs = 100

/** Returns the names of the groups of all sandboxes on this machine, also of those of other agents. */
export function namesOfGroups(mounts: readonly CgroupMount[]): string[] {
  return mounts.flatMap(({ path }) => {
    try {
      return readdirSync(join(path, dirname(cgroupPathOf('any'))))
    } catch {
      // No sandbox was started yet.
      return []
    }
  })
}

/** Returns the cgroup mounts of this machine. */
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

/** Throws an error that says what to do if sandboxes could not be limited, frozen and measured. */
export function requireCgroups(mounts: readonly CgroupMount[]): void {
  const missing = controllersNeeded.filter(
    (each) => !mounts.some(({ version, controllers }) => version === 2 || controllers.includes(each)),
  )
  if (missing.length === 0) return
  throw new Error(
    `cgroup controllers ${missing.join(', ')} are not mounted. Mount them, or start Dock where they are visible ` +
      '(`ip netns exec` hides them, `nsenter --net` does not).',
  )
}

export class SandboxCgroup {
  readonly #mounts: readonly CgroupMount[]
  readonly #lines: string[]
  readonly #id: string

  /** `membership` is the content of `/proc/PID/cgroup` of a process of the sandbox with this id. */
  constructor(mounts: readonly CgroupMount[], membership: string, id: string) {
    this.#mounts = mounts
    this.#lines = membership.trim().split('\n')
    this.#id = id
  }

  /** Returns the group of the sandbox whose host process is `pid`. Throws if that process is gone. */
  static ofProcess(mounts: readonly CgroupMount[], pid: number, id: string): SandboxCgroup {
    return new SandboxCgroup(mounts, readFileSync(`/proc/${pid}/cgroup`, 'utf8'), id)
  }

  /** Returns the group by name, for a sandbox that has no process yet or whose process is unknown. */
  static named(mounts: readonly CgroupMount[], id: string): SandboxCgroup {
    const lines = mounts.map(({ version, controllers, root }) => {
      const path = `${root === '/' ? '' : root}${cgroupPathOf(id)}`
      return version === 2 ? `0::${path}` : `1:${controllers.join(',')}:${path}`
    })
    return new SandboxCgroup(mounts, lines.join('\n'), id)
  }

  /** Limits CPU time to that of this many processors. */
  limitCpus(cpus: number): void {
    const quota = String(Math.round(cpus * cpuPeriodUs))
    const one = this.#folder('cpu')
    if (one) writeFileSync(join(one, 'cpu.cfs_quota_us'), quota)
    else writeFileSync(this.#unified('cpu.max'), `${quota} ${cpuPeriodUs}`)
  }

  /** Lets the sandbox run on every processor that its parent group may use. */
  useAllCpus(): void {
    const one = this.#folder('cpuset')
    if (one) writeFileSync(join(one, 'cpuset.cpus'), readFileSync(join(one, '../cpuset.cpus'), 'utf8'))
    else writeFileSync(this.#unified('cpuset.cpus'), '\n')
  }

  /** Sets the normal CPU share, which a background boot does not have. */
  shareEqually(): void {
    const one = this.#folder('cpu')
    if (one) writeFileSync(join(one, 'cpu.shares'), '1024')
    else writeFileSync(this.#unified('cpu.weight'), '100')
  }

  /** Moves a process into the group. */
  add(pid: number): void {
    for (const folder of this.#folders()) writeFileSync(join(folder, 'cgroup.procs'), String(pid))
  }

  /** Removes the group, which has no process any more. */
  async remove(timeoutMs: number): Promise<void> {
    await removeControlGroups(this.#folders(), timeoutMs)
  }

  /** Starts freezing and returns without waiting. */
  orderFreeze(): void {
    const one = this.#folder('freezer')
    if (one) writeFileSync(join(one, 'freezer.state'), 'FROZEN')
    else writeFileSync(this.#unified('cgroup.freeze'), '1')
  }

  /** Freezes every process. Resolves when all are frozen; throws if that takes too long. */
  async freeze(): Promise<void> {
    const one = this.#folder('freezer')
    const isFrozen = one
      ? () => readFileSync(join(one, 'freezer.state'), 'utf8').trim() === 'FROZEN'
      : () => readFileSync(this.#unified('cgroup.events'), 'utf8').includes('frozen 1')
    const isDone = await freezeWithRetries({
      freeze: () => this.orderFreeze(),
      isFrozen,
      thaw: () => this.thaw(),
    })
    if (!isDone) throw new Error(`sandbox ${this.#id} could not be frozen`)
  }

  thaw(): void {
    const one = this.#folder('freezer')
    if (one) writeFileSync(join(one, 'freezer.state'), 'THAWED')
    else writeFileSync(this.#unified('cgroup.freeze'), '0')
  }

  /** Returns the host ids of all threads of the sandbox. */
  threads(): number[] {
    const one = this.#folder('freezer')
    const file = one ? join(one, 'tasks') : this.#unified('cgroup.threads')
    return readFileSync(file, 'utf8').trim().split('\n').map(Number)
  }

  /** Returns the folder of the memory controller. Throws if the sandbox has no own group. */
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

  /** Returns the folders of the group in all hierarchies. */
  #folders(): Set<string> {
    const folders = this.#mounts.flatMap(({ version, controllers }) =>
      version === 2 ? [this.#folder(undefined)] : controllers.map((each) => this.#folder(each)),
    )
    return new Set(folders.filter((each) => each !== undefined))
  }

  #unified(file: string): string {
    const folder = this.#folder(undefined)
    if (!folder) throw new Error(`sandbox ${this.#id} has no own control group`)
    return join(folder, file)
  }

  /** Returns the folder of a version 1 controller, or of the version 2 hierarchy if `controller` is undefined. */
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
 * Freezes the group with retries. Returns false, with the group thawed, if that fails for five seconds. A version 1
 * group can stay in FREEZING forever if it is frozen while a process is being created; it must then be thawed and
 * frozen again.
 */
export async function freezeWithRetries(group: {
  freeze(): void
  isFrozen(): boolean
  thaw(): void
}): Promise<boolean> {
  const begin = performance.now()
  for (let waitMs = retryAfterMs; performance.now() - begin < freezeTimeoutMs; waitMs *= 2) {
    group.freeze()
    const retryAt = performance.now() + waitMs
    while (performance.now() < retryAt) {
      if (group.isFrozen()) return true
      await delay(1)
    }
    group.thaw()
  }
  return false
}

const field = (text: string, name: string): number =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
