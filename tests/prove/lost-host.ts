/**
 * script/prove lost-host: a second machine with Docks and Snapshots is disconnected and its agent killed. Operations
 * that do not need it continue; the others continue once it is declared lost. When it returns, everything that was
 * given up is ended there. Each check has a positive control.
 */
import { execFile } from 'node:child_process'
import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { createDock, deleteDock, run, untilState } from '../e2e/support/dock.ts'
import { agentOf, createMachine, joinToken } from '../e2e/support/second-machine.ts'
import { newDataDir, removeDataDir, startServer } from '../e2e/support/server.ts'

const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const failures: string[] = []
const expect = (holds: boolean, what: string): void => {
  print(`${holds ? 'ok    ' : 'FAILED'} ${what}`)
  if (!holds) failures.push(what)
}
/** Returns the error code of the call, or its result as text. */
const said = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (answer) => JSON.stringify(answer),
    (error: { code?: string; message?: string }) => error.code ?? String(error.message),
  )
const until = async (what: string, holds: () => Promise<boolean>, withinMs = 120_000): Promise<boolean> => {
  const deadline = Date.now() + withinMs
  while (Date.now() < deadline) {
    if (await holds()) return true
    await delay(250)
  }
  print(`       waited ${withinMs / 1000} s for: ${what}`)
  return false
}

const machine = await createMachine(2)
const port = await freePort()
const server = await startServer(await newDataDir(), port, {
  DOCK_BIND: '0.0.0.0',
  DOCK_COPY_MIB_PER_SECOND: '1000',
  DOCK_TEST_COPY_AGE_SECONDS: '10',
  DOCK_TEST_COPY_RETRY_SECONDS: '1',
})
const hostDir = await newDataDir()
const { client } = server
const declareLost = (id: string) =>
  promisify(execFile)(new URL('../../script/admin', import.meta.url).pathname, ['declare-lost', id], {
    env: { ...process.env, DOCK_DATA_DIR: server.dataDir },
  }).then(
    ({ stdout }) => stdout.trim(),
    (error: { stderr?: string }) => `refused: ${error.stderr?.trim()}`,
  )
const params = (id: string) => ({ params: { id } })
const confirmed = (id: string) => ({ params: { id }, headers: { 'x-confirm-delete': id } })
const stop = (id: string, force = false) => client.call('stopDock', { ...params(id), body: { force } })
const resume = (id: string) => client.call('resumeDock', { ...params(id), body: {} })
const statusOf = async (operation: { id: string }) =>
  (await client.call('readOperation', params(operation.id))).status
const latest = async (id: string) => (await client.call('readLatestSnapshot', params(id)))!.id
const log = () => readFile(join(server.dataDir, 'logs/control-plane.log'), 'utf8')
const isCopied = async (snapshotId: string): Promise<boolean> =>
  (await log()).split('\n').some((line) => line.includes('Snapshot copied') && line.includes(snapshotId))
const second = async () =>
  (await client.call('listHosts', {})).find(({ address }) => address.startsWith('198.19.2.'))
/** Lists the Docks whose disks are mounted on the second machine. */
const mounted = async (): Promise<string[]> =>
  readdir(`/proc/${await agentOf(hostDir)}/root${hostDir}/host/mounts`).catch(() => [])

const createThere = async (
  name: string,
  hostId: string,
  workspaceId = server.admin.workspaceId,
): Promise<string> => {
  const tenant = { client, admin: { ...server.admin, workspaceId } }
  for (let attempt = 0; attempt < 40; attempt++) {
    const dock = await createDock(tenant, { name: `${name}-${attempt}` })
    if (dock.hostId === hostId) return dock.id
    await deleteDock(server, dock.id)
  }
  throw new Error('no Dock was placed on the second machine')
}
/** Writes content, stops the Dock, waits for the copy, and resumes it on the same host if `again`. */
const copiedOnce = async (id: string, hostId: string, content: string, again: boolean): Promise<string> => {
  await run(server, id, `echo ${content} > file`)
  await stop(id)
  const snapshotId = await latest(id)
  await until(`the copy of ${snapshotId}`, () => isCopied(snapshotId))
  if (again) {
    await resume(id)
    const dock = await untilState(server, id, ['ready'])
    if (dock.hostId !== hostId) throw new Error('the Dock was resumed on another host')
  }
  return snapshotId
}

let host: Awaited<ReturnType<typeof machine.joinAsHost>> | undefined
try {
  host = await machine.joinAsHost(
    hostDir,
    `http://${machine.address}:${port}`,
    await joinToken(server.dataDir),
  )
  await until(
    'the second machine has the image',
    async () => (await log()).includes('image delivered'),
    300_000,
  )
  await until('the second machine is online', async () => (await second())?.state === 'online')
  const hostId = (await second())!.id
  const isOnHost = async (id: string): Promise<boolean> =>
    (await client.call('readHost', params(hostId))).docks.some((dock) => dock.id === id)
  print('Docks and Snapshots on the second machine')
  const running = await createThere('deleted', hostId)
  const forced = await createThere('forced', hostId)
  await copiedOnce(forced, hostId, 'copied', true)
  await run(server, forced, 'echo newer > file')
  const archived = await createThere('archived', hostId)
  await copiedOnce(archived, hostId, 'archived', false)
  const cleaned = await createThere('cleaned', hostId)
  const cleanedSnapshot = await copiedOnce(cleaned, hostId, 'cleaned', false)
  const templated = await createThere('templated', hostId)
  await client.call('createTemplate', { body: { dockId: templated, name: 'golden' } })
  const other = await client.call('createOrganization', { body: { name: 'Other' } })
  const workspaces = await client.call('listWorkspaces', { params: { orgId: other.id } })
  const foreign = await createThere('foreign', hostId, workspaces[0]!.id)
  const uncopied = await createThere('uncopied', hostId)
  const olderSnapshot = await copiedOnce(uncopied, hostId, 'older', true)
  await run(server, uncopied, 'echo newest > file')
  expect(
    (await declareLost(hostId)).startsWith('refused'),
    'control: a host that is online cannot be declared lost',
  )
  await stop(uncopied)
  const newestSnapshot = await latest(uncopied)

  process.kill(await agentOf(hostDir), 'SIGKILL')
  await machine.connect(false)
  expect(newestSnapshot !== olderSnapshot, 'the latest Snapshot of one Dock is not the copied one')
  expect(!(await isCopied(newestSnapshot)), 'control: it was not copied when the machine was disconnected')
  print('the machine is disconnected, its agent killed')
  await untilState(server, running, ['unreachable'], 120_000)

  print('before it is declared lost')
  const deleted = (await client.call('deleteDock', confirmed(running))).operation
  expect((await statusOf(deleted)) === 'blocked', 'control: the delete of a Dock that may still run waits')
  expect((await said(stop(forced))) === 'conflict', 'control: its Docks cannot be stopped')
  expect((await said(stop(forced, true))) === 'conflict', 'control: not by force either')
  expect(
    (await said(resume(uncopied))) === 'no_host_capacity',
    'control: a Dock is not silently resumed from an older Snapshot',
  )
  await resume(archived)
  const moved = await untilState(server, archived, ['ready'])
  expect(moved.hostId !== hostId, 'an archived Dock with a copy resumes on the other host')
  expect((await run(server, archived, 'cat file')) === 'archived\n', '… with its files')
  const cleanedDelete = (await client.call('deleteSnapshot', confirmed(cleanedSnapshot))).operation
  expect(
    cleanedDelete.status === 'completed',
    'the delete of a Snapshot whose capture is on the lost host completes',
  )
  const named = { params: { name: 'golden' }, query: { organizationId: server.admin.organizationId } }
  expect(
    (await client.call('deleteTemplate', named)).operation.status === 'completed',
    'so does the delete of a Template',
  )
  const cleanedDock = (await client.call('deleteDock', confirmed(cleaned))).operation
  expect((await statusOf(cleanedDock)) === 'completed', 'so does the delete of an archived Dock')
  await client.call('deleteOrganization', params(other.id))
  await delay(12_000)
  expect(
    await isOnHost(foreign),
    'control: a deleted organization is not removed while its Dock may still run there',
  )

  print(await declareLost(hostId))
  expect(
    await until('the delete', async () => (await statusOf(deleted)) === 'completed', 20_000),
    'the delete completes',
  )
  const isRemoved = async () => !(await isOnHost(foreign))
  expect(await until('the removal', isRemoved, 20_000), 'the removal of an organization continues')
  expect(
    (await said(stop(forced))) === 'conflict',
    'control: a stop that would save a Snapshot is still refused',
  )
  expect(
    (await said(stop(forced, true))) === JSON.stringify({ id: forced, state: 'archived' }),
    'a forced stop archives',
  )
  await resume(forced)
  const again = await untilState(server, forced, ['ready'])
  expect(again.hostId !== hostId, 'it resumes on the other host')
  expect((await run(server, forced, 'cat file')) === 'copied\n', '… from its latest copied Snapshot')
  const { snapshots } = await client.call('listDockSnapshots', { ...params(uncopied), query: { limit: 10 } })
  const statuses = Object.fromEntries(snapshots.map(({ id, status }) => [id, status]))
  expect(statuses[newestSnapshot] === 'failed', 'the Snapshot that was never copied is failed')
  expect(statuses[olderSnapshot] === 'completed', 'control: the previous Snapshot is completed')
  const answer = await said(resume(uncopied))
  expect(answer.includes(olderSnapshot), `resume names the Snapshot that it starts from: ${answer}`)
  await untilState(server, uncopied, ['ready'])
  expect((await run(server, uncopied, 'cat file')) === 'older\n', '… and starts from the previous Snapshot')

  await until('the agent there runs again', async () => (await mounted().catch(() => [])).length > 0)
  const before = await mounted()
  expect(
    [running, forced, templated, foreign].every((id) => before.includes(id)),
    'control: Docks that were given up still run there',
  )
  const capture = join(`/proc/${await agentOf(hostDir)}/root${hostDir}/host/pool/captures`, newestSnapshot)
  const isKept = () =>
    access(capture).then(
      () => true,
      () => false,
    )
  expect(await isKept(), 'control: the capture that was not copied exists')
  print('the machine returns')
  await machine.connect(true)
  expect(await until('it is online', async () => (await second())?.state === 'online'), 'it is online again')
  const isFenced = async () => {
    const now = await mounted()
    return ![running, forced, foreign].some((id) => now.includes(id))
  }
  expect(await until('they are ended there', isFenced), 'Docks that were deleted or given up are ended there')
  expect((await mounted()).includes(templated), 'control: a Dock that was not given up keeps running there')
  await untilState(server, templated, ['ready'])
  expect(await isKept(), 'a capture without a delete order is kept')
  for (const [id, content] of [
    [forced, 'copied'],
    [archived, 'archived'],
    [uncopied, 'older'],
  ] as const)
    expect(
      (await run(server, id, 'cat file')) === `${content}\n`,
      `the Dock that was resumed elsewhere (${content}) keeps running`,
    )
  expect((await second())?.state === 'online', 'the host is in service')
} finally {
  await machine.connect(true).catch(() => undefined)
  await host?.interrupt()
  await server.interrupt()
  await machine.remove()
  for (const dir of [hostDir, server.dataDir]) await removeDataDir(dir)
}
print(failures.length === 0 ? 'a lost host is not a dead end' : `${failures.length} failed`)
process.exit(failures.length === 0 ? 0 : 1)
