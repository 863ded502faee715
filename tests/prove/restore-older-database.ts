/**
 * Restores an older database while host and object store keep their newer data. The backup is a copy of the `control`
 * folder while Dock is stopped, or a base backup of the running database. After the backup, in the lost time, Docks are
 * created, stopped, resumed, captured and deleted, and operations complete that were running during the backup. After
 * the restore nothing may be missing. Docks that the older database knows must work or report why not; adopting the
 * unknown Docks must bring them back with their files.
 * Positive control: a Dock that is deleted on purpose is removed, so the comparison detects missing data.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { createDock, deleteDock, untilState } from '../e2e/support/dock.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../e2e/support/server.ts'
import { type Backup, backups } from './restore/backups.ts'
import {
  capturesOf,
  listed,
  objectsOf,
  pause,
  quarantine,
  resume,
  stop,
  untilItRuns,
  words,
  write,
} from './restore/instance.ts'
import { backUpMeanwhile, expectNothingLost, goOn, prepareDocks } from './restore/under-way.ts'

const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const failures: string[] = []
const expect = (holds: boolean, what: string): void => {
  print(`${holds ? 'ok    ' : 'FAILED'} ${what}`)
  if (!holds) failures.push(what)
}

const prove = async (backup: Backup): Promise<void> => {
  print(`\n${backup.name}`)
  const dataDir = await newDataDir()
  const port = await freePort()
  const start = () =>
    startServer(dataDir, port, { DOCK_TEST_COPY_AGE_SECONDS: '0', DOCK_TEST_COPY_RETRY_SECONDS: '1' })
  let server = await start()
  try {
    const known = {
      runs: (await createDock(server, { name: 'runs' })).id,
      archived: (await createDock(server, { name: 'archived' })).id,
      doomed: (await createDock(server, { name: 'doomed' })).id,
      doomedArchived: (await createDock(server, { name: 'doomed-archived' })).id,
    }
    for (const id of Object.values(known)) await write(server, id, 'before')
    await stop(server, known.archived)
    await stop(server, known.doomedArchived)
    const underWay = backup.isLive ? await prepareDocks(server) : null
    const fresh = underWay && (await backUpMeanwhile(server, underWay, () => backup.take(server, start)))
    if (!fresh) server = await backup.take(server, start)

    await untilItRuns(server, known.runs)
    await untilItRuns(server, known.doomed)
    await write(server, known.runs, 'lost-time')
    await resume(server, known.archived)
    await write(server, known.archived, 'lost-time')
    const news = {
      running: (await createDock(server, { name: 'new-running' })).id,
      stopped: (await createDock(server, { name: 'new-stopped' })).id,
    }
    for (const [name, id] of Object.entries(news)) await write(server, id, name)
    await stop(server, news.stopped)
    if (underWay && fresh) await goOn(server, underWay, fresh)
    await deleteDock(server, known.doomed)
    await deleteDock(server, known.doomedArchived)
    // Long enough for the instance's lineage mark to reach the host.
    await pause(12_000)
    const captures = await capturesOf(dataDir)
    const objects = await objectsOf(dataDir)
    await server.interrupt()
    await backup.restore(dataDir)
    server = await start()

    const unknown = [known.archived, news.running, news.stopped]
    const held = async () => (await listed(dataDir)).filter(({ state }) => state === 'held')
    const deadline = Date.now() + 120_000
    while (Date.now() < deadline) {
      const ids = new Set((await held()).map(({ dockId }) => dockId))
      if (unknown.every((id) => ids.has(id))) break
      await pause(500)
    }
    const items = await held()
    const itemOf = (dockId: string) => items.find((item) => item.dockId === dockId)
    for (const id of unknown) expect(itemOf(id) !== undefined, `in quarantine: ${id}, ${itemOf(id)?.kind}`)
    const log = await readFile(join(dataDir, 'logs/control-plane.log'), 'utf8')
    expect(log.includes('a new epoch begins'), 'the restore is detected automatically')
    expect(log.includes('now in quarantine'), 'the log says what went into quarantine')
    const there = new Set(await capturesOf(dataDir))
    const gone = captures.filter((id) => !there.has(id))
    expect(gone.length === 0, `captures before ${captures.length}, gone ${gone.length}`)
    if (backup.keepsObjects) {
      expect(
        log.includes('"by":"the object store"'),
        'the object store reveals the restore before any host does',
      )
      const left = new Set(await objectsOf(dataDir))
      const missing = objects.filter((name) => !left.has(name))
      expect(missing.length === 0, `objects before ${objects.length}, gone ${missing.length}`)
    }
    const [host] = await server.client.call('listHosts', {})
    const detail = await server.client.call('readHost', { params: { id: host!.id } })
    expect(
      detail.orphans.some(({ dockId }) => dockId === news.running),
      'the unknown running Dock is listed under orphans',
    )

    await untilItRuns(server, known.runs)
    expect(
      (await words(server, known.runs)) === 'before lost-time',
      'a known Dock works, with its newest disk',
    )
    await resume(server, known.archived)
    expect(
      (await words(server, known.archived)) === 'before',
      'a known archived Dock resumes with the state of the backup',
    )
    const doomed = await untilEnded(server, known.doomed)
    expect(doomed === 'error', `a Dock deleted since the backup is in state ${doomed}`)
    await expectGoneOrWhole(server, known.doomedArchived)

    for (const [name, id] of Object.entries(news)) {
      print(`      ${await quarantine(dataDir, 'adopt', itemOf(id)?.id ?? '')}`)
      await resume(server, id)
      expect((await words(server, id)) === name, `adopted, ${name} is back with its files`)
    }
    await stop(server, known.archived)
    await quarantine(dataDir, 'adopt', itemOf(known.archived)?.id ?? '')
    const latest = await snapshotsOf(server, known.archived)
    expect(
      latest.some(({ id }) => id === itemOf(known.archived)?.id),
      'the lost time of a known Dock is adopted as its Snapshot',
    )
    if (underWay && fresh) await expectNothingLost(server, underWay, fresh, expect)
    await deleteOne(server, dataDir)
  } finally {
    await server.interrupt()
    await removeDataDir(dataDir)
  }
}

/** A Snapshot that was deleted since the backup must be failed, or usable if its copy is still complete. */
const expectGoneOrWhole = async (server: Server, id: string): Promise<void> => {
  const [snapshot] = await snapshotsOf(server, id)
  const status = snapshot?.status ?? 'gone'
  if (status !== 'completed')
    return void expect(status === 'failed', `a Snapshot deleted since the backup is ${status}`)
  const outcome = await resume(server, id).then(
    () => words(server, id),
    (error: unknown) => String(error),
  )
  expect(
    outcome === 'before',
    `a Snapshot deleted since the backup, whose copy is complete, resumes: ${outcome}`,
  )
}

const snapshotsOf = async (server: Server, id: string) =>
  (await server.client.call('listDockSnapshots', { params: { id }, query: {} })).snapshots

/** Waits for the state `error`, which a Dock whose disk is gone reaches after its boot was tried. */
const untilEnded = async (server: Server, id: string): Promise<string> =>
  (
    await untilState(server, id, ['error'], 120_000).catch(() =>
      server.client.call('readDock', { params: { id } }),
    )
  ).state

/** Positive control: the capture of a Dock that is deleted on purpose is removed. */
const deleteOne = async (server: Server, dataDir: string): Promise<void> => {
  const { id } = await createDock(server, { name: 'ordered-away' })
  await stop(server, id)
  const before = await capturesOf(dataDir)
  await deleteDock(server, id)
  const after = await capturesOf(dataDir)
  expect(
    after.length === before.length - 1,
    'control: the capture of a Dock that is deleted on purpose is removed',
  )
}

const folder = await mkdtemp(join(tmpdir(), 'dock-restore-'))
try {
  const only = process.argv[2]
  for (const [index, backup] of backups(folder).entries())
    if (only === undefined || Number(only) === index + 1) await prove(backup)
} finally {
  await rm(folder, { recursive: true, force: true })
}
print(
  failures.length === 0
    ? '\nall checks passed'
    : `\n${failures.length} checks failed: ${failures.join('; ')}`,
)
process.exit(failures.length === 0 ? 0 : 1)
