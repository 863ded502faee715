/** What the restore proof inspects: quarantine, the host's pool, objects, and a file in each Dock. */
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { exec, run, untilState } from '../../e2e/support/dock.ts'
import { agentOf } from '../../e2e/support/second-machine.ts'
import type { Server } from '../../e2e/support/server.ts'

const runFile = promisify(execFile)
const checkout = new URL('../../..', import.meta.url).pathname
export function pause(ms: number) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Runs `script/admin quarantine` with these arguments and returns its output. */
export async function quarantine(dataDir: string, ...words: string[]): Promise<string> {
  return (
    await runFile(join(checkout, 'script/admin'), ['quarantine', ...words], {
      env: { ...process.env, DOCK_DATA_DIR: dataDir },
    })
  ).stdout.trim()
}

export type Item = { id: string; state: string; kind: string; dockId: string }
export async function listed(dataDir: string): Promise<Item[]> {
  return (await quarantine(dataDir, 'list'))
    .split('\n')
    .filter((line) => line.includes(' since='))
    .map((line) => {
      const [id = '', state = '', kind = '', dockId = ''] = line.split(' ')
      return { id, state, kind, dockId }
    })
}

/** Returns the path of the pool in the agent's mount namespace. */
const poolOf = async (dataDir: string): Promise<string> =>
  `/proc/${await agentOf(dataDir)}/root${dataDir}/host/pool`

export async function capturesOf(dataDir: string): Promise<string[]> {
  return (await readdir(join(await poolOf(dataDir), 'captures')))
    .filter((name) => !name.startsWith('.'))
    .sort()
}

export async function objectsOf(dataDir: string): Promise<string[]> {
  const entries = await readdir(join(dataDir, 'control/objects'), {
    recursive: true,
    withFileTypes: true,
  }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

/** Waits until a command runs in the Dock. After a restart, its state is stale until its host has reported. */
export async function untilItRuns(server: Server, id: string): Promise<void> {
  const deadline = Date.now() + 120_000
  for (;;) {
    const isBack = await run(server, id, 'true').then(
      () => true,
      () => false,
    )
    if (isBack) return
    if (Date.now() > deadline) throw new Error(`Dock ${id} still runs no command`)
    await pause(200)
  }
}

export function write(server: Server, id: string, text: string) {
  return run(server, id, `echo ${text} >> ~/words && sync`)
}
export async function words(server: Server, id: string): Promise<string> {
  return (await exec(server, id, 'cat ~/words')).stdout.trim().split('\n').join(' ')
}
export function stop(server: Server, id: string) {
  return server.client.call('stopDock', { params: { id }, body: {} })
}
export async function resume(server: Server, id: string) {
  await server.client.call('resumeDock', { params: { id }, body: {} })
  await untilState(server, id, ['ready', 'running', 'idle'])
}
