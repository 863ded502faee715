/** A tenant stops Docks whose disks make the copy or the list of a Snapshot costly. */
import { readFile, writeFile } from 'node:fs/promises'
import pg from 'pg'
import { type BenchServer, withServer } from '../../../bench/parts/bench-server.ts'
import { processOf } from '../../crash/processes.ts'
import { createDock, run } from '../../e2e/support/dock.ts'
import { untilTrue } from './attackers.ts'
import type { Report } from './report.ts'

const bombs = 3
const folders = 200_000
/** What an ordinary copy may take, on a busy machine too. */
const copyMsMax = 120_000
/** A list of these folders took 225 MiB more when all of them were in memory. */
const grownMiBMax = 120

/** Makes hard links whose paths are a few megabytes on the disk, and gigabytes as a list. */
const makeLinks = `$n = "\\x01" x 240; chdir "/home/user"; for (1 .. 16) { mkdir $n; chdir $n or die $! }
open F, ">>a"; close F; for ($i = 0; $i < 62000; $i++) { link "a", "b$i" or die $! }`

const makeFolders = `chdir "/home/user"; for $k (0 .. 19) { mkdir "w$k"; chdir "w$k" or die $!;
for ($i = 0; $i < ${folders / 20}; $i++) { mkdir "folder-number-$i" or die $! } chdir ".." } open F, ">last"; close F`

/** Runs a Perl program in a new Dock and stops it. Returns the id of the Snapshot. */
const stopAfter = async (server: BenchServer, program: string, diskGiB = 1): Promise<string> => {
  const { client } = server
  const dock = await createDock(server, { diskGiB })
  await run(server, dock.id, `perl -e '${program}'`, { timeoutSeconds: 200 })
  await client.call('stopDock', { params: { id: dock.id }, body: { force: false } })
  const latest = await client.call('readLatestSnapshot', { params: { id: dock.id } })
  if (!latest) throw new Error('the stop made no Snapshot')
  return latest.id
}

const isCopied = async ({ dataDir }: BenchServer, snapshotId: string): Promise<boolean> => {
  const database = new pg.Client({ host: `${dataDir}/control/run`, user: 'dock', database: 'postgres' })
  await database.connect()
  try {
    const found = await database.query('select 1 from snapshots where id = $1 and copied_at is not null', [
      snapshotId,
    ])
    return found.rows.length > 0
  } finally {
    await database.end()
  }
}

const untilCopied = (server: BenchServer, snapshotId: string, ms: number): Promise<number | null> =>
  untilTrue(() => isCopied(server, snapshotId), ms, 500)

const addNeighbour = async ({ client, admin }: BenchServer): Promise<BenchServer['admin']> => {
  const organization = await client.call('createOrganization', { body: { name: 'Bombs', slug: 'bombs' } })
  const [first] = await client.call('listWorkspaces', { params: { orgId: organization.id } })
  if (!first) throw new Error('the new organization has no workspace')
  return { ...admin, organizationId: organization.id, workspaceId: first.id }
}

const told = (ms: number | null): string => (ms === null ? 'not copied' : `copied after ${ms} ms`)

const longLists = async (server: BenchServer, report: Report): Promise<void> => {
  const mallory = { ...server, admin: await addNeighbour(server) }
  const before = await untilCopied(server, await stopAfter(server, 'print "victim"'), copyMsMax)
  const made = await Promise.all(Array.from({ length: bombs }, () => stopAfter(mallory, makeLinks)))
  const after = await untilCopied(server, await stopAfter(server, 'print "victim"'), copyMsMax)
  const ofBomb = await untilCopied(server, made[0] ?? '', copyMsMax)
  report.attack({
    what: `stops ${bombs} Docks with a list of files of gigabytes`,
    control: before !== null,
    holds: after !== null && ofBomb !== null,
    seen: `a neighbour's Snapshot is ${told(after)} (${told(before)} before), the attacker's own is ${told(ofBomb)}`,
  })
}

const peakMiB = async (pid: number): Promise<number> =>
  Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024

const manyFolders = async (server: BenchServer, report: Report): Promise<void> => {
  // A disk has an inode for each 16 KiB.
  const snapshotId = await stopAfter(server, makeFolders, 4)
  const agent = await processOf('agent', server)
  if (agent === null) throw new Error('the agent does not run')
  // The peak begins again from now.
  await writeFile(`/proc/${agent}/clear_refs`, '5')
  const atFirst = await peakMiB(agent)
  const tree = await server.client.call('readSnapshotTree', { params: { id: snapshotId } })
  const copied = await untilCopied(server, snapshotId, copyMsMax)
  const isListed = tree.files.some(({ path }) => path === '/home/user/last')
  const grown = Math.round((await peakMiB(agent)) - atFirst)
  report.attack({
    what: `stops a Dock with ${folders} folders`,
    control: isListed,
    holds: copied !== null && grown < grownMiBMax && (await processOf('agent', server)) === agent,
    seen: `the agent takes ${grown} MiB more while they are listed, the Snapshot is ${told(copied)}`,
  })
}

export function snapshotBombs(report: Report): Promise<void> {
  return withServer({ DOCK_WARM_POOL: '0', DOCK_TEST_COPY_AGE_SECONDS: '5' }, async (server) => {
    await longLists(server, report)
    await manyFolders(server, report)
  })
}
