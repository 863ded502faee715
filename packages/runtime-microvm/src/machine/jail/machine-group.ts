/**
 * The control group of a machine, version 1 or 2: /dock/NAME in each hierarchy. It limits memory, processor time and the number
 * of threads, and allows no device. It also says which processes belong to the machine, so that no stored pid is needed.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { removeControlGroups } from '@dock/foundation'
import { forbidDevices } from '../system/system-calls.ts'

const parentName = 'dock'
const cpuPeriodUs = 100_000
/** QEMU has a thread per processor and up to 64 for the disk. */
const threadsMax = 192
const controllersOne = ['cpu', 'cpuacct', 'devices', 'freezer', 'memory', 'pids'] as const
const controllersTwo = ['cpu', 'memory', 'pids']
const pollMs = 5
const killTimeoutMs = 10_000

export type GroupLimits = { cpus: number; memoryBytes: number }

export type Hierarchy = { version: 1 | 2; path: string; controllers: string[] }

const readHierarchies = (): Hierarchy[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [place, source] = line.split(' - ')
      const [type, , options] = source?.split(' ') ?? []
      const path = place?.split(' ')[4]
      if (!path || (type !== 'cgroup' && type !== 'cgroup2')) return []
      return [{ version: type === 'cgroup' ? 1 : 2, path, controllers: options?.split(',') ?? [] }] as const
    })

/** Returns the hierarchies in which a machine gets a group: those of version 1, or the one of version 2. */
const usedHierarchies = (): Hierarchy[] => {
  const all = readHierarchies()
  const ones = all.filter(
    ({ version, controllers }) => version === 1 && controllersOne.some((each) => controllers.includes(each)),
  )
  if (ones.some(({ controllers }) => controllers.includes('memory'))) return ones
  const two = all.find(({ version }) => version === 2)
  if (!two) throw new Error('no control groups are mounted: microVMs need those for memory, cpu and pids')
  return [two]
}

let known: Hierarchy[] | undefined

const hierarchiesHere = (): Hierarchy[] => {
  known ??= usedHierarchies()
  return known
}

export class MachineGroup {
  readonly #hierarchies: readonly Hierarchy[]
  readonly #name: string

  /** `hierarchies` are those of this machine, unless a test gives others. */
  constructor(name: string, hierarchies: readonly Hierarchy[] = hierarchiesHere()) {
    this.#name = name
    this.#hierarchies = hierarchies
  }

  /** Returns the group of the machine with this id. */
  static ofMachine(id: string): MachineGroup {
    return new MachineGroup(`vm-${id}`)
  }

  /** Folders of the group, one per hierarchy. A process that writes its pid to `cgroup.procs` in all of them is inside. */
  get folders(): string[] {
    return this.#hierarchies.map(({ path }) => join(path, parentName, this.#name))
  }

  /** Creates the group with its limits. */
  create({ cpus, memoryBytes }: GroupLimits): void {
    const quota = Math.round(cpus * cpuPeriodUs)
    for (const { version, path, controllers } of this.#hierarchies) {
      const parent = join(path, parentName)
      const folder = join(parent, this.#name)
      const write = (file: string, value: string | number) => writeFileSync(join(folder, file), String(value))
      if (version === 2) {
        for (const each of [path, parent]) {
          mkdirSync(each, { recursive: true })
          writeFileSync(
            join(each, 'cgroup.subtree_control'),
            controllersTwo.map((name) => `+${name}`).join(' '),
          )
        }
        mkdirSync(folder, { recursive: true })
        write('memory.max', memoryBytes)
        write('cpu.max', `${quota} ${cpuPeriodUs}`)
        write('pids.max', threadsMax)
        forbidDevices(folder)
        continue
      }
      mkdirSync(folder, { recursive: true })
      if (controllers.includes('memory')) write('memory.limit_in_bytes', memoryBytes)
      if (controllers.includes('cpu')) write('cpu.cfs_quota_us', quota)
      if (controllers.includes('pids')) write('pids.max', threadsMax)
      if (controllers.includes('devices')) write('devices.deny', 'a')
    }
  }

  /** Returns what the machine uses. Throws if it has ended. */
  usage(): { cpuUsec: number; memoryBytes: number } {
    if (this.#isVersion2) {
      const [, usec] = /^usage_usec (\d+)/m.exec(this.#read('cpu', 'cpu.stat')) ?? []
      return { cpuUsec: Number(usec), memoryBytes: Number(this.#read('memory', 'memory.current')) }
    }
    return {
      cpuUsec: Math.round(Number(this.#read('cpuacct', 'cpuacct.usage')) / 1_000),
      memoryBytes: Number(this.#read('memory', 'memory.usage_in_bytes')),
    }
  }

  /** Returns true if the kernel killed a process of the machine because memory ran out. False once the group is removed. */
  ranOutOfMemory(): boolean {
    try {
      const events = this.#read('memory', this.#isVersion2 ? 'memory.events' : 'memory.oom_control')
      return /^oom_kill [1-9]/m.test(events)
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
  }

  /** Returns the processes of the machine. Empty if it has ended. */
  pids(): number[] {
    const [folder] = this.folders
    try {
      return readFileSync(join(folder!, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number)
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  }

  /** Kills the processes that have not ended by themselves after `graceMs`. On return all have ended. */
  async kill(graceMs = 0): Promise<void> {
    const begin = performance.now()
    for (;;) {
      const pids = this.pids()
      if (pids.length === 0) return
      const passedMs = performance.now() - begin
      if (passedMs > graceMs + killTimeoutMs)
        throw new Error(`processes ${pids.join(', ')} of machine ${this.#name} do not end`)
      if (passedMs >= graceMs) for (const pid of pids) kill(pid)
      await delay(pollMs)
    }
  }

  /** Kills all processes and removes the group. Idempotent. */
  async end(): Promise<void> {
    await this.kill()
    await removeControlGroups(this.folders, killTimeoutMs)
  }

  get #isVersion2(): boolean {
    return this.#hierarchies[0]?.version === 2
  }

  /** Reads a file of this controller. */
  #read(controller: string, file: string): string {
    const at = this.#hierarchies.findIndex(
      ({ version, controllers }) => version === 2 || controllers.includes(controller),
    )
    return readFileSync(join(this.folders[at] ?? '', file), 'utf8')
  }
}

/** ENODEV: the group was removed while its file was open. */
const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENODEV'].includes(String((error as NodeJS.ErrnoException).code))

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}
