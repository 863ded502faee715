/** Finds what a host has of microVMs: their control groups, processes and folders. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const base = '/sys/fs/cgroup'

/** What exists of the microVMs of one host, as the fields of the same names in {@link Found}. */
export type FoundMachines = Record<'sandboxes' | 'gofers' | 'groups' | 'bundles', string[]>

/** `id/generation` of the Dock, or the whole name for a machine that becomes a template. */
const nameOf = (machine: string): string =>
  machine.replace(/^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d+)$/, '$1/$2')

const list = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

/** Lists the control groups of machines, by machine. Version 1 has one in each hierarchy. */
const groupsByMachine = async (): Promise<Map<string, string[]>> => {
  const found = new Map<string, string[]>()
  for (const parent of [base, ...(await list(base)).map((name) => join(base, name))])
    for (const name of await list(join(parent, 'dock'))) {
      const [, machine] = /^vm-(.+)$/.exec(name) ?? []
      if (machine) found.set(machine, [...(found.get(machine) ?? []), join(parent, 'dock', name)])
    }
  return found
}

const pidsOf = async (groups: readonly string[]): Promise<string[]> => {
  const texts = await Promise.all(
    groups.map((group) => readFile(join(group, 'cgroup.procs'), 'utf8').catch(() => '')),
  )
  return [...new Set(texts.join('\n').split('\n').filter(Boolean))]
}

/** QEMU is the first process of a pid namespace. What starts it is not. */
const isEmulator = async (pid: string): Promise<boolean> =>
  /^NSpid:.*\s1$/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))

/** Returns the pids of QEMU in the machines of a Dock. */
export async function emulatorsOf(dockId: string): Promise<number[]> {
  const found: number[] = []
  for (const [machine, groups] of await groupsByMachine())
    if (machine.startsWith(dockId))
      for (const pid of await pidsOf(groups)) if (await isEmulator(pid)) found.push(Number(pid))
  return found
}

/** Reads the machine. `isOurs` tells the Docks of this server, and `runDir` is the folder of its sockets. */
export async function findMachines(
  hostDir: string,
  runDir: string,
  isOurs: (dockId: string) => boolean,
): Promise<FoundMachines> {
  const instance = createHash('sha256').update(hostDir).digest('hex').slice(0, 8)
  const found: FoundMachines = { sandboxes: [], gofers: [], groups: [], bundles: [] }
  for (const [machine, groups] of await groupsByMachine()) {
    const name = nameOf(machine)
    if (!isOurs(name.split('/')[0]!) && !machine.startsWith(`template-${instance}-`)) continue
    found.groups.push(name)
    for (const pid of await pidsOf(groups)) found[(await isEmulator(pid)) ? 'sandboxes' : 'gofers'].push(name)
  }
  found.bundles = (await list(join(runDir, 'm'))).map(nameOf)
  return found
}
