/**
 * Compares the machine with the database, without code of the program: sandboxes, namespaces, interfaces, mounts, loop
 * devices, cgroups and disks.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { findMachines } from './scan-machines.ts'

const run = promisify(execFile)

export type Recorded = {
  /** What runs the Docks of the host. */
  runtime: string
  docks: { id: string; state: string; generation: number; hasDisk: boolean; name: string }[]
  snapshots: { id: string; dockId: string; status: string }[]
  /** Operations that are not completed. */
  open: { id: string; kind: string; status: string; dockId: string | null }[]
  /** Number of Docks that placement counts on the host. */
  slots: number
  /** Number of Docks that should be counted. */
  placed: number
  /** All Docks that an operation ever worked on, including deleted ones. */
  everyDock: string[]
}

/**
 * What exists on the machine, by Dock id; sandboxes as `id/generation`, or `blank-…` if no Dock has them yet. One that
 * the present agent has not made is `… of a dead agent`.
 */
export type Found = {
  sandboxes: string[]
  /** Gofers of runsc, or what starts and awaits QEMU. */
  gofers: string[]
  groups: string[]
  /** State files of runsc. */
  states: string[]
  /** OCI bundles made by the driver, or folders of microVMs. */
  bundles: string[]
  namespaces: string[]
  /** Interfaces of network namespaces in which a blank sandbox waits. */
  reserved: string[]
  interfaces: string[]
  mounts: string[]
  loops: string[]
  disks: string[]
  captures: string[]
  /** Disks and captures with a temporary name, left by an interrupted write. */
  halfMade: string[]
}

const dashed = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
const sandboxName = /d([0-9a-f]{32})g([0-9a-f]{8})/
const blankName = /blank-[0-9a-f]{32}/
const isBlank = (name: string): boolean => /^blank-[0-9a-f]{32}$/.test(name)
/** Names sandboxes: `id/generation` of the Dock, or its own name for a blank one that no Dock has. */
type Naming = (text: string) => string | null

/** Blank sandboxes keep their name when they become the sandbox of a Dock; a file in the Dock's bundle says so. */
const namingOf = async (bundles: string, agent: number): Promise<Naming> => {
  const parse = (text: string): string | null => {
    const match = sandboxName.exec(text)
    return match ? `${dashed(match[1]!)}/${Number.parseInt(match[2]!, 16)}` : null
  }
  const names = new Map<string, string>()
  for (const folder of existsSync(bundles) ? await readdir(bundles) : []) {
    const blank = await readFile(join(bundles, folder, 'name'), 'utf8').catch(() => '')
    const owner = parse(folder)
    if (blank && owner) names.set(blank, owner)
    const record = await readFile(join(bundles, folder, 'blank.json'), 'utf8').catch(() => '')
    const isMine = record.includes(`"maker":{"pid":${agent},`)
    if (isBlank(folder) && isMine && !names.has(folder)) names.set(folder, folder)
  }
  return (text) => {
    const blank = blankName.exec(text)?.[0]
    return blank ? (names.get(blank) ?? `${blank} of a dead agent`) : parse(text)
  }
}

/** Returns the URL of a server's embedded database. */
export function databaseOf(dataDir: string): string {
  return `postgresql://dock@/postgres?host=${encodeURIComponent(join(dataDir, 'control/run'))}`
}

/** Reads the database in one transaction. */
export async function readRecorded(dataDir: string): Promise<Recorded> {
  const client = new pg.Client({ connectionString: databaseOf(dataDir) })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('begin isolation level repeatable read')
    const rows = async <Row>(sql: string): Promise<Row[]> => (await client.query(sql)).rows as Row[]
    const [hosts] = await rows<{ runtime: string; slots: number; placed: number }>(
      `select coalesce(min(runtime), 'gvisor') as runtime, coalesce(sum(reserved_slots), 0)::int as slots,
        (select count(*) from docks where placed)::int as placed from hosts`,
    )
    return {
      docks: await rows(`select id, state, generation, has_disk as "hasDisk", name from docks`),
      snapshots: await rows(`select id, dock_id as "dockId", status from snapshots`),
      open: await rows(
        `select id, kind, status, dock_id as "dockId" from operations where status <> 'completed'`,
      ),
      ...hosts!,
      everyDock: (await rows<{ id: string }>(`select distinct dock_id as id from operations`)).map(
        ({ id }) => id,
      ),
    }
  } finally {
    await client.end()
  }
}

const processes = async (root: string, nameIn: Naming): Promise<Pick<Found, 'sandboxes' | 'gofers'>> => {
  const found: Pick<Found, 'sandboxes' | 'gofers'> = { sandboxes: [], gofers: [] }
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const line = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')
    const name = line.includes(`--root=${root}`) ? nameIn(line) : null
    if (name === null) continue
    if (line.startsWith('runsc-sandbox')) found.sandboxes.push(name)
    else if (line.startsWith('runsc-gofer') || (name.startsWith('blank-') && line.startsWith('/bin/bash')))
      found.gofers.push(name)
    else found.gofers.push(`${name} (${line.split('\0')[0]})`)
  }
  return found
}

const interfaces = async (): Promise<{ name: string; alias: string }[]> => {
  const { stdout } = await run('ip', ['-j', 'link', 'show', 'type', 'veth'])
  const links = JSON.parse(stdout || '[]') as { ifname?: string; ifalias?: string }[]
  return links.map((link) => ({ name: link.ifname ?? '', alias: link.ifalias ?? '' }))
}

/** Lists the disks mounted by the agent, in its mount namespace. */
const mountedDisks = async (agent: number, mountsDir: string): Promise<string[]> =>
  (await readFile(`/proc/${agent}/mountinfo`, 'utf8')).split('\n').flatMap((line) => {
    const point = line.split(' ')[4] ?? ''
    return point.startsWith(`${mountsDir}/`) ? [point.slice(mountsDir.length + 1)] : []
  })

const loops = async (pool: string): Promise<string[]> => {
  const { stdout } = await run('losetup', ['-l', '-n', '-O', 'BACK-FILE'])
  return stdout.split('\n').flatMap((line) => {
    const file = line.trim().replace(/ \(deleted\)$/, '')
    return file.startsWith(`${pool}/`)
      ? [file.slice(pool.length + 1).replace(/^docks\/([^/]+)\/.*$/, '$1')]
      : []
  })
}

const controlGroups = async (nameIn: Naming): Promise<string[]> => {
  const base = '/sys/fs/cgroup'
  const names = async (path: string) => (await readdir(path).catch(() => [])).map(nameIn)
  const folders = [join(base, 'dock'), ...(await readdir(base)).map((name) => join(base, name, 'dock'))]
  return [...new Set((await Promise.all(folders.map(names))).flat().filter((name) => name !== null))]
}

/** Lists the sandboxes that a folder has entries for. The folder may not exist yet. */
const sandboxesIn = async (folder: string, nameIn: Naming): Promise<string[]> => {
  const names = existsSync(folder) ? await readdir(folder) : []
  return [...new Set(names.map(nameIn).filter((name) => name !== null))]
}

/** Reads the machine. `everyDock` lists Docks of this server; cgroups of other Docks are ignored. */
export async function readFound(
  dataDir: string,
  agent: number,
  everyDock: readonly string[],
): Promise<Found> {
  const host = join(dataDir, 'host')
  const pool = join(host, 'pool')
  const inside = join('/proc', String(agent), 'root', pool)
  const list = (name: string) => readdir(join(inside, name))
  const subnet = JSON.parse(await readFile(join(host, 'subnet'), 'utf8')) as { instance: string }
  const tag = createHash('sha256').update(subnet.instance).digest('hex')
  const prefix = `gvh${tag.slice(0, 5)}-`
  const cables = (await interfaces()).filter(({ name }) => name.startsWith(prefix))
  const namespaceNames = (await readdir('/run/netns')).filter((name) => name.startsWith(prefix))
  const ownerOf = (name: string) => cables.find((cable) => cable.name === name)?.alias || `nobody (${name})`
  const isOwner = (owner: string): boolean => owner !== 'spare' && owner !== 'reserved'
  const [disks, captures] = [await list('docks'), await list('captures')]
  const proper = /^[0-9a-f-]{36}$/
  const runDir = join('/run', `dock-${tag.slice(0, 12)}`)
  const bundles = join(runDir, 'sandboxes')
  const nameIn = await namingOf(bundles, agent)
  const ofBlanks = `blank-${createHash('sha256').update(bundles).digest('hex').slice(0, 8)}`
  const { sandboxes, gofers } = await processes(join(host, 'runsc'), nameIn)
  const ids = new Set([...disks, ...everyDock, ...sandboxes.map((name) => name.split('/')[0]!)])
  const machines = await findMachines(host, runDir, (id) => ids.has(id))
  return {
    sandboxes: [...sandboxes, ...machines.sandboxes],
    gofers: [...gofers, ...machines.gofers],
    // Other servers on this machine have cgroups too.
    groups: [
      ...(await controlGroups(nameIn)).filter(
        (name) => ids.has(name.split('/')[0]!) || name.startsWith(ofBlanks),
      ),
      ...machines.groups,
    ],
    states: await sandboxesIn(join(host, 'runsc'), nameIn),
    bundles: [...(await sandboxesIn(bundles, nameIn)), ...machines.bundles],
    namespaces: namespaceNames.map(ownerOf).filter(isOwner),
    reserved: cables.flatMap(({ name, alias }) => (alias === 'reserved' ? name : [])),
    interfaces: cables.map((cable) => cable.alias || `nobody (${cable.name})`).filter(isOwner),
    mounts: await mountedDisks(agent, join(host, 'mounts')),
    loops: await loops(pool),
    disks: disks.filter((name) => proper.test(name)),
    captures: captures.filter((name) => proper.test(name)),
    halfMade: [...disks, ...captures].filter((name) => !proper.test(name)),
  }
}

const differences = (what: string, wanted: readonly string[], found: readonly string[]): string[] => [
  ...wanted.filter((each) => !found.includes(each)).map((each) => `${what} ${each} is missing`),
  ...found.filter((each) => !wanted.includes(each)).map((each) => `${what} ${each} is left over`),
  ...found
    .filter((each, index) => found.indexOf(each) !== index)
    .map((each) => `${what} ${each} is there twice`),
]

const alive = ['ready', 'idle', 'running']
const settled = [...alive, 'archived', 'error']

/** Lists all differences. Sandboxes of generation 0 belong to the warm pool, blank ones to nobody yet. */
export function disagreements(recorded: Recorded, found: Found): string[] {
  const warm = found.sandboxes.filter((name) => name.endsWith('/0'))
  const live = recorded.docks.filter((dock) => alive.includes(dock.state))
  const ofDocks = [...live.map((dock) => `${dock.id}/${dock.generation}`), ...warm]
  const running = ofDocks.map((name) => name.split('/')[0]!)
  const blanks = found.sandboxes.filter(isBlank)
  const sandboxes = [...ofDocks, ...blanks]
  /** Only runsc has files of its own, and only its disks are mounted. */
  const ofRunsc = (names: readonly string[]) => (recorded.runtime === 'gvisor' ? names : [])
  const kept = recorded.docks
    .filter((dock) => dock.hasDisk && !alive.includes(dock.state))
    .map(({ id }) => id)
  const completed = recorded.snapshots.filter(({ status }) => status === 'completed').map(({ id }) => id)
  return [
    ...recorded.docks
      .filter((dock) => !settled.includes(dock.state))
      .map((dock) => `Dock ${dock.name} is ${dock.state}`),
    ...recorded.open.map((operation) => `operation ${operation.kind} is ${operation.status}`),
    ...recorded.snapshots
      .filter(({ status }) => status === 'saving')
      .map(({ id }) => `Snapshot ${id} is still saving`),
    ...(recorded.slots === recorded.placed
      ? []
      : [`placement counts ${recorded.slots} Docks instead of ${recorded.placed}`]),
    ...(found.reserved.length === blanks.length
      ? []
      : [`${found.reserved.length} networks are reserved for ${blanks.length} blank sandboxes`]),
    ...differences('sandbox', sandboxes, found.sandboxes),
    ...differences('gofer', sandboxes, found.gofers),
    ...differences('control group', sandboxes, found.groups),
    ...differences('state of sandbox', ofRunsc(sandboxes), found.states),
    ...differences('bundle of sandbox', sandboxes, found.bundles),
    ...differences('namespace of', running, found.namespaces),
    ...differences('interface of', running, found.interfaces),
    ...differences('mount of', ofRunsc(running), found.mounts),
    ...differences('loop device of', ofRunsc(running), found.loops),
    ...differences('disk of', [...running, ...kept], found.disks),
    ...differences('capture', completed, found.captures),
    ...found.halfMade.map((name) => `left by an interrupted write: ${name}`),
  ]
}
