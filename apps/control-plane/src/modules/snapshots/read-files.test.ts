/** Reads of files, with a real database and the fake host. Every file there contains `dock` and a line break. */
import { limits, rateLimits, ServiceError } from '@dock/contract'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRateLimits } from '../../rate-limits/rate-limits.ts'
import { createVisitor, type Visitor } from '../accounts/index.ts'
import { stopDock } from '../docks/index.ts'
import { listSnapshots, readSnapshotDownload, readSnapshotFile, readSnapshotTree } from './index.ts'
import { createOpenReadings } from './open-readings.ts'

let database: FreshDatabase
let world: TestWorld
let member: Visitor
let id: string
beforeAll(async () => {
  database = await createFreshDatabase()
  world = await createTestWorld(database.db)
  member = createVisitor(world.caller, { role: 'member', outsider: 'snapshot_not_found' })
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  const { snapshots } = await listSnapshots(world.modules.context, world.caller, { limit: 1 })
  id = snapshots[0]!.id
})
afterAll(() => database.drop())

const read = async (range?: string, bytesMax?: number) => {
  const context = { ...world.modules.snapshots.context, readings: createOpenReadings() }
  try {
    const answer = await readSnapshotFile(context, member, { id, path: '/etc/hostname', range }, bytesMax)
    const text = await new Response(answer.body).text()
    expect(answer.contentLength).toBe(text.length)
    return { text, range: answer.range }
  } catch (error) {
    return error instanceof ServiceError ? error.code : error
  }
}

it('returns the whole file, one range, or an unsatisfiable range', async () => {
  const part = (start: number, end: number) => ({ size: 5, part: { start, end } })
  expect(await read()).toEqual({ text: 'dock\n', range: undefined })
  expect(await read('bytes=1-2')).toEqual({ text: 'oc', range: part(1, 3) })
  expect(await read('bytes=-3')).toEqual({ text: 'ck\n', range: part(2, 5) })
  expect(await read('bytes=9-')).toEqual({ text: '', range: { size: 5, part: null } })
  for (const whole of ['bytes=0-1,3-4', 'lines=1-2', 'bytes=3-1'])
    expect(await read(whole), whole).toEqual({ text: 'dock\n', range: undefined })
})

it('is refused if the requested bytes exceed the limit', async () => {
  expect(await read(undefined, 4)).toBe('file_too_large')
  expect(await read('bytes=1-', 3)).toBe('file_too_large')
  expect(await read('bytes=1-3', 3)).toMatchObject({ text: 'ock' })
})

it('has a link in the list of downloads', async () => {
  const answer = await readSnapshotDownload(
    { ...world.modules.snapshots.context, readings: createOpenReadings() },
    member,
    id,
  )
  const files = (await Array.fromAsync(answer.files)).flat()
  const url = new URL(files[0]!.url, 'http://dock')
  expect([url.pathname, url.searchParams.get('path')]).toEqual([`/v1/snapshots/${id}/files`, files[0]!.path])
})

/** Creates a context with its own counters. */
const counting = () => ({
  ...world.modules.snapshots.context,
  readings: createOpenReadings(),
  rateLimits: createRateLimits(),
})
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof ServiceError ? error.code : error),
  )
const { openPerUserMax, openPerHostMax, openPerHostAndOrganizationMax } = limits.snapshotReadings

it('is refused to a person at the limit of concurrent reads, until a read ends', async () => {
  const context = counting()
  const path = '/etc/hostname'
  const file = (range?: string) => readSnapshotFile(context, member, { id, path, range })
  // Count these without a host, since one organization's limit per host is lower.
  for (let count = 0; count < openPerUserMax - 2; count++) context.readings.ofUser(member.userId)
  const open = [await file()]
  const tree = await readSnapshotTree(context, member, id)
  expect(await codeOf(file())).toBe('rate_limited')
  expect(await codeOf(readSnapshotTree(context, member, id))).toBe('rate_limited')
  expect(await codeOf(readSnapshotDownload(context, member, id))).toBe('rate_limited')

  await Array.fromAsync(tree.files)
  open.push(await file())
  expect(await codeOf(file())).toBe('rate_limited')
  await open[0]!.body.cancel()
  expect(await new Response((await file()).body).text()).toBe('dock\n')
  // A refused read and a file that is too large do not stay counted.
  expect(await codeOf(readSnapshotFile(context, member, { id, path, range: undefined }, 1))).toBe(
    'file_too_large',
  )
  expect(await codeOf(file())).toBe('done')
})

it('is refused while the host is at its limit, for every reader', async () => {
  const context = counting()
  const ends = Array.from({ length: openPerHostMax }, (_, turn) =>
    context.readings.ofHost(world.hostId, { userId: `${turn % 3}`, organizationId: `another ${turn % 3}` }),
  )
  const file = () => readSnapshotFile(context, member, { id, path: '/etc/hostname', range: undefined })
  for (let count = 0; count <= openPerUserMax; count++) expect(await codeOf(file())).toBe('rate_limited')
  expect(await codeOf(readSnapshotTree(context, member, id))).toBe('rate_limited')
  ends[0]!.end()
  expect(await codeOf(file())).toBe('done')
})

it('is refused while the organization is at its limit for the host', async () => {
  expect(openPerHostAndOrganizationMax).toBeLessThan(openPerUserMax)
  const context = counting()
  const file = () => readSnapshotFile(context, member, { id, path: '/etc/hostname', range: undefined })
  const open = await Promise.all(Array.from({ length: openPerHostAndOrganizationMax }, file))
  expect(await codeOf(file())).toBe('rate_limited')
  context.readings.ofHost(world.hostId, { userId: 'another', organizationId: 'another' })
  await open[0]!.body.cancel()
  expect(await codeOf(file())).toBe('done')
})

it('is rate limited per minute', async () => {
  const context = counting()
  const list = async () => {
    for await (const _ of (await readSnapshotTree(context, member, id)).files);
  }
  for (let count = 0; count < rateLimits.snapshotLists.max; count++) await list()
  expect(await codeOf(list())).toBe('rate_limited')
  await Promise.all(
    Array.from({ length: rateLimits.snapshotFiles.max }, () =>
      context.rateLimits.take('snapshotFiles', member.userId),
    ),
  )
  const file = readSnapshotFile(context, member, { id, path: '/etc/hostname', range: undefined })
  expect(await codeOf(file)).toBe('rate_limited')
})
