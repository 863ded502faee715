/**
 * Restores an older database while host and object store went on, in the two ways in which operators back up: a copy of
 * the `control` folder while Dock is stopped, and a base backup of the running database. In the lost time Docks are made,
 * stopped, resumed, snapshotted and deleted. Afterwards nothing that existed is gone, what the older database knows works
 * or says why not, and adopting what it does not know brings each Dock back with its files.
 * Positive control: a Dock that is deleted on purpose does go, so the comparison sees what is gone.
 */
import { execFile } from 'node:child_process'
import { access, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createDock, deleteDock, exec, run, untilState } from '../tests/e2e/support/dock.ts'
import { freePort, newDataDir, removeDataDir, type Server, startServer } from '../tests/e2e/support/server.ts'

const runFile = promisify(execFile)
const checkout = new URL('..', import.meta.url).pathname
const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const failures: string[] = []
const expect = (holds: boolean, what: string): void => {
  print(`${holds ? 'ok    ' : 'FAILED'} ${what}`)
  if (!holds) failures.push(what)
}
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** What `script/quarantine` prints, given these words. */
const quarantine = async (dataDir: string, ...words: string[]): Promise<string> =>
  (
    await runFile(join(checkout, 'script/quarantine'), words, {
      env: { ...process.env, DOCK_DATA_DIR: dataDir },
    })
  ).stdout.trim()

type Item = { id: string; state: string; kind: string; dockId: string }
const listed = async (dataDir: string): Promise<Item[]> =>
  (await quarantine(dataDir, 'list'))
    .split('\n')
    .filter((line) => line.includes(' since='))
    .map((line) => {
      const [id = '', state = '', kind = '', dockId = ''] = line.split(' ')
      return { id, state, kind, dockId }
    })

/** The pool as the agent has it mounted. */
const poolOf = async (dataDir: string): Promise<string> => {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const read = (name: string) => readFile(`/proc/${entry}/${name}`, 'utf8').catch(() => '')
    if (!(await read('cmdline')).includes('apps/host-agent/src/main.ts')) continue
    if ((await read('environ')).includes(`DOCK_HOST_DIR=${dataDir}/`))
      return `/proc/${entry}/root${dataDir}/host/pool`
  }
  throw new Error(`no agent on ${dataDir}`)
}

const capturesOf = async (dataDir: string): Promise<string[]> =>
  (await readdir(join(await poolOf(dataDir), 'captures'))).filter((name) => !name.startsWith('.')).sort()

const objectsOf = async (dataDir: string): Promise<string[]> => {
  const entries = await readdir(join(dataDir, 'control/objects'), {
    recursive: true,
    withFileTypes: true,
  }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

/** A Dock's state stands from before a restart until its host has reported: what it runs tells that it is back. */
const untilItRuns = async (server: Server, id: string): Promise<void> => {
  const deadline = Date.now() + 120_000
  for (;;) {
    const isBack = await run(server, id, 'true').then(
      () => true,
      () => false,
    )
    if (isBack) return
    if (Date.now() > deadline) throw new Error(`Dock ${id} is not back`)
    await pause(200)
  }
}

const write = (server: Server, id: string, text: string) => run(server, id, `echo ${text} >> ~/words && sync`)
const words = async (server: Server, id: string): Promise<string> =>
  (await exec(server, id, 'cat ~/words')).stdout.trim().split('\n').join(' ')
const stop = (server: Server, id: string) => server.client.call('stopDock', { params: { id }, body: {} })
const resume = async (server: Server, id: string) => {
  await server.client.call('resumeDock', { params: { id }, body: {} })
  await untilState(server, id, ['ready', 'running', 'idle'])
}

type Backup = {
  name: string
  /** Takes the backup; returns the server that runs on. */
  take(server: Server, again: () => Promise<Server>): Promise<Server>
  /** Puts it back on a stopped instance. */
  restore(dataDir: string): Promise<void>
  /** Whether objects of the lost time are still there afterwards. */
  keepsObjects: boolean
}

const copied = async (from: string, to: string): Promise<void> => {
  await rm(to, { recursive: true, force: true })
  await runFile('cp', ['-a', '--sparse=always', from, to])
}

const backups = (folder: string): Backup[] => [
  {
    name: 'a copy of the control folder while Dock is stopped',
    take: async (server, again) => {
      await server.interrupt()
      await copied(join(server.dataDir, 'control'), join(folder, 'control'))
      return again()
    },
    restore: (dataDir) => copied(join(folder, 'control'), join(dataDir, 'control')),
    keepsObjects: false,
  },
  {
    name: 'a base backup of the running database',
    take: async (server) => {
      const socket = join(folder, 's')
      await runFile('ln', ['-sfn', join(server.dataDir, 'control/run'), socket])
      const program = await pgBaseBackup()
      await runFile(program, [
        '-h',
        socket,
        '-U',
        'dock',
        '-D',
        join(folder, 'pg'),
        '-X',
        'stream',
        '-c',
        'fast',
      ])
      return server
    },
    restore: async (dataDir) => {
      const place = await databaseFolder(dataDir)
      const { stdout } = await runFile('stat', ['-c', '%U:%G', place])
      await copied(join(folder, 'pg'), place)
      await runFile('chown', ['-R', stdout.trim(), place])
      await runFile('chmod', ['0700', place])
    },
    keepsObjects: true,
  },
]

const pgBaseBackup = async (): Promise<string> => {
  for (const version of (await readdir('/usr/lib/postgresql')).sort().reverse()) {
    const program = `/usr/lib/postgresql/${version}/bin/pg_basebackup`
    if (
      await access(program).then(
        () => true,
        () => false,
      )
    )
      return program
  }
  throw new Error('no pg_basebackup')
}

const databaseFolder = async (dataDir: string): Promise<string> => {
  for (const name of await readdir(join(dataDir, 'control'))) {
    const place = join(dataDir, 'control', name)
    if (
      await access(join(place, 'PG_VERSION')).then(
        () => true,
        () => false,
      )
    )
      return place
  }
  throw new Error('no database')
}

const prove = async (backup: Backup): Promise<void> => {
  print(`\n${backup.name}`)
  const dataDir = await newDataDir()
  const port = await freePort()
  const start = () => startServer(dataDir, port, { DOCK_COPY_TIMES: 'age=0,retry=1' })
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
    server = await backup.take(server, start)

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
