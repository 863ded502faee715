/**
 * Restores an older database while host and object store went on, in the two ways in which operators back up: a copy of
 * the `control` folder while Dock is stopped, and a base backup of the running database. In the lost time Docks are made,
 * stopped, resumed, snapshotted and deleted, and work ends that was under way during the backup. Afterwards nothing that existed is gone, what the older database knows works
 * or says why not, and adopting what it does not know brings each Dock back with its files.
 * Positive control: a Dock that is deleted on purpose does go, so the comparison sees what is gone.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDock, deleteDock, untilState } from '../e2e/support/dock.ts'
import { freePort, newDataDir, removeDataDir, type Server, startServer } from '../e2e/support/server.ts'
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
  const start = () => startServer(dataDir, port, { DOCK_COPY_AGE_SECONDS: '0', DOCK_COPY_RETRY_SECONDS: '1' })
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
    // Long enough for the mark of the running instance to reach its host.
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
    expect(log.includes('a new epoch begins'), 'the restore is noticed without being told')
    expect(log.includes('now in quarantine'), 'the log says what went into quarantine')
    const there = new Set(await capturesOf(dataDir))
    const gone = captures.filter((id) => !there.has(id))
    expect(gone.length === 0, `captures before ${captures.length}, gone ${gone.length}`)
    if (backup.keepsObjects) {
      expect(log.includes('"by":"the object store"'), 'the object store tells of it before any host does')
      const left = new Set(await objectsOf(dataDir))
      const missing = objects.filter((name) => !left.has(name))
      expect(missing.length === 0, `objects before ${objects.length}, gone ${missing.length}`)
    }
    const [host] = await server.client.call('listHosts', {})
    const detail = await server.client.call('readHost', { params: { id: host!.id } })
    expect(
      detail.orphans.some(({ dockId }) => dockId === news.running),
      'the running one shows under orphans',
    )

    await untilItRuns(server, known.runs)
    expect(
      (await words(server, known.runs)) === 'before lost-time',
      'a known Dock works, with its newest disk',
    )
    await resume(server, known.archived)
    expect(
      (await words(server, known.archived)) === 'before',
      'a known archived Dock resumes as it was backed up',
    )
    const doomed = await untilEnded(server, known.doomed)
    expect(doomed === 'error', `a Dock deleted since reads ${doomed}`)
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

/** A Snapshot that was deleted since reads failed, unless all of its copy is still there: then it works. */
const expectGoneOrWhole = async (server: Server, id: string): Promise<void> => {
  const [snapshot] = await snapshotsOf(server, id)
  const status = snapshot?.status ?? 'gone'
  if (status !== 'completed')
    return void expect(status === 'failed', `a Snapshot deleted since reads ${status}`)
  const outcome = await resume(server, id).then(
    () => words(server, id),
    (error: unknown) => String(error),
  )
  expect(outcome === 'before', `a Snapshot deleted since, whose copy is whole, resumes: ${outcome}`)
}

const snapshotsOf = async (server: Server, id: string) =>
  (await server.client.call('listDockSnapshots', { params: { id }, query: {} })).snapshots

/** A Dock whose disk is gone is given up once its boot was tried. */
const untilEnded = async (server: Server, id: string): Promise<string> =>
  (
    await untilState(server, id, ['error'], 120_000).catch(() =>
      server.client.call('readDock', { params: { id } }),
    )
  ).state

/** The positive control: what is ordered away does go. */
const deleteOne = async (server: Server, dataDir: string): Promise<void> => {
  const { id } = await createDock(server, { name: 'ordered-away' })
  await stop(server, id)
  const before = await capturesOf(dataDir)
  await deleteDock(server, id)
  const after = await capturesOf(dataDir)
  expect(after.length === before.length - 1, 'a Dock that is deleted on purpose does go')
}

const folder = await mkdtemp(join(tmpdir(), 'dock-restore-'))
try {
  const only = process.argv[2]
  for (const [index, backup] of backups(folder).entries())
    if (only === undefined || Number(only) === index + 1) await prove(backup)
} finally {
  await rm(folder, { recursive: true, force: true })
}
print(failures.length === 0 ? '\nall holds' : `\n${failures.length} do not hold: ${failures.join('; ')}`)
process.exit(failures.length === 0 ? 0 : 1)
