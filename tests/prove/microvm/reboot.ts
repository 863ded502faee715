/**
 * The host reboots: everything of the server is killed at once, and what a kernel forgets is gone: control groups, network
 * namespaces, packet rules, mounts and the folders under /run. The kernel's boot id is another one afterwards.
 */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { type CrashWorld, cleanUp, settle } from '../../crash/crash-case.ts'
import { createFaultFolder } from '../../crash/fault-folder.ts'
import { sandboxProcessesOf } from '../../crash/processes.ts'
import { processesOf } from '../../e2e/support/app-process.ts'
import { createDock, run, untilState } from '../../e2e/support/dock.ts'
import { newDataDir, removeDataDir, startServer } from '../../e2e/support/server.ts'
import type { Check } from './check.ts'
import { startWriter } from './kept-lines.ts'
import { runFolderOf, tagOf } from './run-folder.ts'

const command = promisify(execFile)
const patienceMs = 180_000
const server = new URL('../../../script/server', import.meta.url).pathname

/** A folder like a checkout whose script/server runs the real one in a mount namespace with this boot id. */
const makeMachine = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'dock-reboot-'))
  const bootId = join(folder, 'boot_id')
  await writeFile(bootId, `${randomUUID()}\n`)
  await mkdir(join(folder, 'script'))
  const script = join(folder, 'script/server')
  const inside = `mount --bind ${bootId} /proc/sys/kernel/random/boot_id && exec ${server}`
  await writeFile(script, `#!/bin/sh\nexec unshare --mount --propagation private sh -c '${inside}'\n`)
  await chmod(script, 0o755)
  return folder
}

/** Lists what runs for the server and its Docks. */
const everything = async (
  dataDir: string,
  runFolder: string,
  dockIds: readonly string[],
): Promise<number[]> => {
  const found = [...(await processesOf(dataDir)), ...(await processesOf(runFolder))]
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)))
    if ((await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')).includes(dataDir))
      found.push(Number(pid))
  for (const id of dockIds) found.push(...(await sandboxProcessesOf(id)))
  return [...new Set(found)].filter((pid) => pid !== process.pid)
}

const killAll = async (list: () => Promise<number[]>): Promise<void> => {
  for (const deadline = Date.now() + 30_000; ; await delay(100)) {
    const pids = await list()
    if (pids.length === 0) return
    if (Date.now() > deadline) throw new Error(`processes ${pids.join(', ')} do not end`)
    for (const pid of pids)
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has just ended.
      }
  }
}

/** Removes what a reboot does not keep. `tag` is in the names of the host's network namespaces and packet rules. */
const forget = async (runFolder: string, dockIds: readonly string[], tag: string): Promise<void> => {
  const ids = dockIds.flatMap((id) => [id, id.replaceAll('-', '')])
  const base = '/sys/fs/cgroup'
  for (const parent of [base, ...(await readdir(base)).map((name) => join(base, name))])
    for (const name of await readdir(join(parent, 'dock')).catch((): string[] => []))
      if (ids.some((id) => name.includes(id))) await rmdir(join(parent, 'dock', name))
  for (const name of await readdir('/run/netns'))
    if (name.startsWith(`gvh${tag}-`)) await command('ip', ['netns', 'delete', name])
  const { stdout } = await command('nft', ['list', 'tables'])
  for (const line of stdout.split('\n').filter((each) => each.endsWith(`dock_${tag}`)))
    await command('nft', ['delete', ...line.split(' ')])
  await rm(runFolder, { recursive: true, force: true })
}

export async function proveReboot(check: Check): Promise<void> {
  const dataDir = await newDataDir()
  const port = await freePort()
  const faults = await createFaultFolder()
  const folders = [await makeMachine(), await makeMachine()] as const
  const start = async (folder: string): Promise<CrashWorld> => {
    const variables = { DOCK_FAULTS: faults.path, DOCK_WARM_POOL: '0' }
    return { ...(await startServer(dataDir, port, variables, folder)), port, faults }
  }
  let world = await start(folders[0])
  try {
    const running = (await createDock(world, { name: 'running' })).id
    const archived = (await createDock(world, { name: 'archived' })).id
    for (const id of [running, archived]) await run(world, id, 'echo kept >file; sync')
    await world.client.call('stopDock', { params: { id: archived }, body: {} })
    const writer = await startWriter(world, running, 'w')
    while (writer.count() === 0) await delay(100)
    const runFolder = await runFolderOf(world)
    const instance = JSON.parse(await readFile(join(dataDir, 'host/subnet'), 'utf8')) as { instance: string }
    await killAll(() => everything(dataDir, runFolder, [running, archived]))
    await world.ended
    await forget(runFolder, [running, archived], tagOf(instance.instance))
    world = await start(folders[1])
    // Until the host has reported, its Docks read as before.
    await settle(world, Date.now())
    const dock = await untilState(world, running, ['ready'], patienceMs)
    check('a Dock that ran boots again', dock.state === 'ready')
    check('… with its files', (await run(world, running, 'cat file')) === 'kept\n')
    const end = await writer.ended()
    check('its kept process tells that the Dock ended', end.reason === 'dock_ended', JSON.stringify(end))
    const next = await startWriter(world, running, 'next')
    while (next.count() === 0) await delay(100)
    const problems = await next.finish()
    check('a new kept process is whole', problems.length === 0, problems.join('; '))
    await world.client.call('resumeDock', { params: { id: archived }, body: {} })
    check('an archived Dock resumes', (await run(world, archived, 'cat file')) === 'kept\n')
    const unsettled = await settle(world, Date.now())
    check('machine and database agree', unsettled.length === 0, unsettled.join('; '))
    const left = await cleanUp(world)
    check('deleted Docks leave nothing on the host', left.length === 0, left.join('; '))
  } catch (error) {
    check('the host came back', false, error instanceof Error ? (error.stack ?? '') : String(error))
  }
  const code = await world.interrupt()
  check('the server ends in order', code === 0, String(code))
  await faults.remove()
  for (const folder of [...folders, dataDir]) await removeDataDir(folder)
}
