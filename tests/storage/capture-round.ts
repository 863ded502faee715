/**
 * A round that captures and copies a disk with one injected fault: at a write, sync, freeze, snapshot, rename or read,
 * the process is killed or the call fails. Afterwards every `completed` Snapshot must have exactly the disk's content,
 * in the host's capture and in the copy restored to a scratch disk.
 */
import { readdir } from 'node:fs/promises'
import { sql } from 'kysely'
import {
  createDiskDock,
  fillTree,
  fingerprint,
  fingerprintOfDisk,
  type StorageWorld,
  until,
} from './storage-world.ts'

/** Disk calls of a stop and of a branch: those that occur at least once, and those that occur twice. */
const capturePlaces = {
  stop: [['sync', 'freeze', 'snapshot', 'thaw', 'unmount', 'destroySubvolume'], ['sync']],
  branch: [['sync', 'freeze', 'snapshot', 'thaw'], ['snapshot']],
} as const
const copyPlaces = [
  'disk:copy-read',
  'store:write',
  'store:sync',
  'store:rename',
  'store:folder-sync',
  'store:read',
]
const fates = ['KILL', 'EIO', 'ENOSPC']

export type Fault = { place: string; fate: string; passes: number; branch: boolean }

export function nameOf({ place, fate, passes, branch }: Fault): string {
  return `${place} ${fate} after ${passes}, ${branch ? 'branch' : 'stop'}`
}

/** Lists every fault point with every fate, for stop and branch, first at the first pass, then at later passes. */
export function allFaults(): Fault[] {
  const faults: Fault[] = []
  for (const passes of [0, 1, 2, 3])
    for (const fate of fates) {
      for (const branch of [false, true])
        for (const call of capturePlaces[branch ? 'branch' : 'stop'][passes] ?? [])
          for (const side of ['before', 'after'])
            faults.push({ place: `disk:${call}:${side}`, fate, passes, branch })
      for (const place of copyPlaces) faults.push({ place, fate, passes, branch: passes % 2 === 1 })
    }
  return faults
}

type Row = { id: string; status: string; copied: boolean }
const snapshotsOf = async ({ database }: StorageWorld, dockId: string): Promise<Row[]> =>
  (
    await sql<Row>`select id, status, copied_at is not null as copied from snapshots where dock_id = ${dockId}
      order by created_at`.execute(database.db)
  ).rows

const settled = async ({ database, client }: StorageWorld, dockId: string): Promise<boolean> => {
  const open =
    await sql`select 1 from operations where dock_id = ${dockId} and status <> 'completed'`.execute(
      database.db,
    )
  const { state } = await client.call('readDock', { params: { id: dockId } })
  return open.rows.length === 0 && ['ready', 'idle', 'archived', 'error'].includes(state)
}

/** Deletes a Dock. Ignores errors, because an earlier delete may still be running. */
const remove = async (world: StorageWorld, id: string): Promise<void> => {
  await world.client
    .call('deleteDock', { params: { id }, headers: { 'x-confirm-delete': id } })
    .catch(() => undefined)
}

export type Outcome = { hit: boolean; completed: number; failed: number; problems: string[] }

/** Stops or branches the Dock with the fault armed, and waits until no operation is running. */
const captureUnder = async (
  world: StorageWorld,
  fault: Fault,
  dockId: string,
  name: string,
): Promise<void> => {
  await world.faults.clear()
  await world.faults.arm(fault.place, `${fault.fate} ${fault.passes}`)
  const params = { id: dockId }
  const asked = fault.branch
    ? world.client.call('branchDock', { params, body: { name: `${name}-branch` } })
    : world.client.call('stopDock', { params, body: {} })
  await asked.catch(() => undefined)
  await until('the operation is over', () => settled(world, dockId))
}

/** Compares the captures of a Dock, on the host and in the store, with the content of its disk. */
const compare = async (world: StorageWorld, dockId: string, held: string): Promise<Omit<Outcome, 'hit'>> => {
  const problems: string[] = []
  const rows = await snapshotsOf(world, dockId)
  const completed = rows.filter(({ status }) => status === 'completed')
  for (const { id } of completed) {
    const local = await fingerprintOfDisk(`${world.host.poolDir}/captures/${id}/disk.raw`)
    if (local !== held) problems.push(`the capture of ${id} differs`)
    await until(`Snapshot ${id} is copied`, async () =>
      (await snapshotsOf(world, dockId)).some((row) => row.id === id && row.copied),
    )
    const restored = await fingerprintOfDisk(await world.restoreToScratch(id))
    if (restored !== held) problems.push(`the copy of ${id} differs`)
    await world.dropScratch(id)
  }
  const saving = rows.filter(({ status }) => status === 'saving').length
  if (saving > 0) problems.push(`${saving} Snapshots are still saving`)
  return { completed: completed.length, failed: rows.length - completed.length - saving, problems }
}

const runs = async ({ client }: StorageWorld, dockId: string): Promise<boolean> =>
  ['ready', 'idle'].includes((await client.call('readDock', { params: { id: dockId } })).state)

/** Returns true if the Dock, resumed if it was stopped, still has its content. */
const isUnchanged = async (world: StorageWorld, dockId: string, held: string): Promise<boolean> => {
  const { state } = await world.client.call('readDock', { params: { id: dockId } })
  if (state === 'archived') await world.client.call('resumeDock', { params: { id: dockId }, body: {} })
  const root = world.host.mountOf(dockId)
  await until(
    'the Dock runs on its disk',
    async () => (await runs(world, dockId)) && (await readdir(root)).length > 0,
  )
  return (await fingerprint(root)) === held
}

/** Runs a round and deletes its Docks. */
export async function captureRound(world: StorageWorld, fault: Fault, number: number): Promise<Outcome> {
  const outcome: Outcome = { hit: false, completed: 0, failed: 0, problems: [] }
  try {
    const name = `round-${number}`
    const dock = await createDiskDock(world, name)
    const root = world.host.mountOf(dock.id)
    await fillTree(root, number)
    const held = await fingerprint(root)
    await captureUnder(world, fault, dock.id, name)
    Object.assign(outcome, await compare(world, dock.id, held))
    outcome.hit = world.faults.hasHit(fault.place)
    await world.faults.clear()
    if (!(await isUnchanged(world, dock.id, held))) outcome.problems.push('the Dock itself differs')
  } catch (error) {
    outcome.problems.push(error instanceof Error ? error.message : String(error))
  }
  outcome.hit ||= world.faults.hasHit(fault.place)
  await world.faults.clear()
  await until('the control plane lists Docks', async () => {
    for (const { id } of await world.client.call('listDocks', { query: { all: true } }))
      await remove(world, id)
    return true
  })
  return outcome
}
