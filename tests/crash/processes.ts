/** Finds the three processes of a server that crash tests kill, by their command line and environment. */
import { readdir, readFile } from 'node:fs/promises'
import { uptime } from 'node:os'
import { join } from 'node:path'
import { emulatorsOf } from './scan-machines.ts'

export type Victim = 'control-plane' | 'agent' | 'database'
export const victims: readonly Victim[] = ['control-plane', 'agent', 'database']

const read = (pid: number | string, name: string): Promise<string> =>
  readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')

/** Returns a process's state letter, or null if it has ended. */
export async function stateOfProcess(pid: number): Promise<string | null> {
  const text = await read(pid, 'stat')
  const state = text[text.lastIndexOf(')') + 2]
  return state === undefined || state === 'Z' || state === 'X' ? null : state
}

/** Returns when a process started, in milliseconds since the epoch. */
export async function startOfProcess(pid: number): Promise<number> {
  const text = await read(pid, 'stat')
  const ticks = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19])
  return Date.now() - uptime() * 1000 + ticks * 10
}

const nodeProgram = async (main: string, setting: string): Promise<number | null> => {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const line = await read(entry, 'cmdline')
    if (!line.includes(main) || !/(^|\/)node$/.test(line.split('\0')[0] ?? '')) continue
    if ((await read(entry, 'environ')).split('\0').includes(setting)) return Number(entry)
  }
  return null
}

/** Returns the pid of a server's process, or null while it is down. */
export async function processOf(
  victim: Victim,
  server: { dataDir: string; port: number },
): Promise<number | null> {
  if (victim === 'control-plane') return nodeProgram('/control-plane.mjs', `PORT=${server.port}`)
  if (victim === 'agent') return nodeProgram('/host-agent.mjs', `DOCK_HOST_DIR=${server.dataDir}/host`)
  const lock = await readFile(join(server.dataDir, 'control/pg/postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(lock, 10)
  return Number.isInteger(pid) && (await stateOfProcess(pid)) !== null ? pid : null
}

/**
 * Returns what occurs in the arguments of a Dock's sandbox: the beginning of its id, and last the name under which
 * runsc knows it. That is its id, or the name of the blank sandbox that became the Dock's.
 */
export async function sandboxNamesOf(dockId: string): Promise<string[]> {
  const id = `d${dockId.replaceAll('-', '')}g`
  const names = [id]
  for (const host of await readdir('/run').catch(() => [])) {
    const bundles = join('/run', host, 'sandboxes')
    const own = host.startsWith('dock-') ? await readdir(bundles).catch(() => []) : []
    for (const folder of own.filter((each) => each.startsWith(id)))
      names.push(await readFile(join(bundles, folder, 'name'), 'utf8').catch(() => folder))
  }
  return names
}

/** Returns the processes of a Dock's sandbox: those of runsc, or QEMU. */
export async function sandboxProcessesOf(dockId: string): Promise<number[]> {
  const found = await emulatorsOf(dockId)
  const names = await sandboxNamesOf(dockId)
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue
    const line = await read(entry, 'cmdline')
    if (line.includes('runsc') && names.some((name) => line.includes(name))) found.push(Number(entry))
  }
  return found
}

/** Returns the pid of a Dock's sandbox. */
export async function sandboxOf(dockId: string): Promise<number> {
  const [emulator] = await emulatorsOf(dockId)
  if (emulator !== undefined) return emulator
  for (const pid of await sandboxProcessesOf(dockId))
    if ((await read(pid, 'cmdline')).startsWith('runsc-sandbox')) return pid
  throw new Error(`no sandbox of Dock ${dockId}`)
}

/** Kills a Dock's sandbox, like the kernel when memory is short. */
export async function killSandbox(dockId: string): Promise<void> {
  process.kill(await sandboxOf(dockId), 'SIGKILL')
}
