/**
 * What requests cost: processor time of each part of a server, and counts, which vary less than times. Read before and after
 * some requests while the other server is idle.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { readCgroupMounts } from '../../packages/runtime-gvisor/src/cgroup/sandbox-cgroup.ts'
import { cpuSecondsOfPrograms } from '../parts/cpu-seconds.ts'
import { cpuMsOf, listDescendants, listProcesses, type ServerProcesses } from '../parts/server-processes.ts'

/** Processor time in milliseconds. That of the agent includes the programs that it ran. */
export type CpuCosts = { controlPlane: number; agent: number; postgres: number; sandboxes: number }

/** `calls` are the agent's reads and writes, of files, pipes and the link. */
export type Costs = CpuCosts & { statements: number; calls: number }

/** What a server has used so far. Sandboxes that have ended are not among its sandboxes. */
export type Reading = Omit<Costs, 'sandboxes'> & { atMs: number; sandboxes: ReadonlyMap<string, number> }

export const noCosts: Costs = {
  controlPlane: 0,
  agent: 0,
  postgres: 0,
  sandboxes: 0,
  statements: 0,
  calls: 0,
}

export function totalCpuMs({ controlPlane, agent, postgres, sandboxes }: CpuCosts): number {
  return controlPlane + agent + postgres + sandboxes
}

/**
 * Returns the costs of one request: what was added between two readings, without what an idle server would have used in
 * that time (`idle`, for each second), divided by the number of requests. Of a sandbox that ended meanwhile, nothing counts.
 */
export function costsBetween(before: Reading, after: Reading, idle: Costs, requests: number): Costs {
  const seconds = (after.atMs - before.atMs) / 1000
  const share = (name: keyof Costs, used: number): number =>
    Math.max(0, (used - idle[name] * seconds) / requests)
  const added = (name: Exclude<keyof Costs, 'sandboxes'>): number => share(name, after[name] - before[name])
  const inSandboxes = [...after.sandboxes].map(([id, ms]) => ms - (before.sandboxes.get(id) ?? 0))
  return {
    controlPlane: added('controlPlane'),
    agent: added('agent'),
    postgres: added('postgres'),
    sandboxes: share(
      'sandboxes',
      inSandboxes.reduce((sum, each) => sum + each, 0),
    ),
    statements: added('statements'),
    calls: added('calls'),
  }
}

/** Counts the statements that PostgreSQL executes. The server must have been started after {@link loadCounter}. */
export type StatementCounter = { read(): Promise<number>; close(): Promise<void> }

const connect = async (dataDir: string, database: string): Promise<pg.Client> => {
  const client = new pg.Client({ host: join(dataDir, 'control/run'), user: 'dock', database })
  // If the server ends, the next request says so. Without a listener this would end the process and leave the other server.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

const counterDatabase = 'bench_guard'

/** Makes PostgreSQL load its extension that counts statements, from its next start. Returns false if it is not installed. */
export async function loadCounter(dataDir: string): Promise<boolean> {
  const client = await connect(dataDir, 'postgres')
  try {
    const available = `select from pg_available_extensions where name = 'pg_stat_statements'`
    if ((await client.query(available)).rowCount === 0) return false
    await client.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`)
    // In a database of its own, because the server owns all others.
    await client.query(`create database ${counterDatabase}`)
    return true
  } finally {
    await client.end()
  }
}

export async function openCounter(dataDir: string): Promise<StatementCounter> {
  const client = await connect(dataDir, counterDatabase)
  await client.query('create extension if not exists pg_stat_statements')
  const calls = `select sum(calls)::float8 as calls from pg_stat_statements
    where dbid <> (select oid from pg_database where datname = current_database())`
  return {
    read: async () => ((await client.query(calls)).rows[0] as { calls: number | null }).calls ?? 0,
    close: () => client.end(),
  }
}

/** Returns the milliseconds of processor time of each sandbox that the server has now, by its id. */
const sandboxCpuMs = async (dataDir: string): Promise<Map<string, number>> => {
  const states = await readdir(join(dataDir, 'host/runsc'))
  const ids = new Set(states.flatMap((name) => /^(\w+)_.*\.state$/.exec(name)?.[1] ?? []))
  const times = await Promise.all([...ids].map(async (id) => [id, await cpuMsOfGroup(id)] as const))
  return new Map(times)
}

/** Returns the processor time of a sandbox's control group, of version 1 or 2. 0 if the group is gone. */
const cpuMsOfGroup = async (id: string): Promise<number> => {
  const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')
  for (const { version, controllers, path } of readCgroupMounts()) {
    const folder = join(path, 'dock', id)
    if (version === 1 && controllers.includes('cpuacct'))
      return Number(await read(join(folder, 'cpuacct.usage'))) / 1_000_000
    const used = version === 2 && /^usage_usec (\d+)/m.exec(await read(join(folder, 'cpu.stat')))?.[1]
    if (used) return Number(used) / 1000
  }
  return 0
}

/** Returns the number of a process's reads and writes. */
const callsOf = async (pid: number): Promise<number> => {
  const text = await readFile(`/proc/${pid}/io`, 'utf8')
  const read = (name: string): number => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(text)?.[1])
  return read('syscr') + read('syscw')
}

/** Reads what a server has used so far. The statement that counts statements is not part of it. */
export async function readCosts(
  { controlPlane, agent, postgres }: ServerProcesses,
  dataDir: string,
  counter: StatementCounter | undefined,
  when: 'before' | 'after',
): Promise<Reading> {
  const early = when === 'before' ? await counter?.read() : undefined
  const connections = listDescendants(await listProcesses(), postgres).map(({ pid }) => pid)
  const [ofControlPlane, ofAgent, ofPrograms, ofPostgres, sandboxes, calls] = await Promise.all([
    cpuMsOf(controlPlane),
    cpuMsOf(agent),
    cpuSecondsOfPrograms(agent).then((seconds) => seconds * 1000),
    Promise.all([postgres, ...connections].map(cpuMsOf)),
    sandboxCpuMs(dataDir),
    callsOf(agent),
  ])
  const atMs = performance.now()
  return {
    atMs,
    controlPlane: ofControlPlane,
    agent: ofAgent + ofPrograms,
    postgres: ofPostgres.reduce((sum, each) => sum + each, 0),
    sandboxes,
    statements: early ?? (await counter?.read()) ?? 0,
    calls,
  }
}
