/** What a host is known by: its builder mark, which join tokens and operators set, and its facts. Uses a real database. */
import { newUuid, systemClock } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { hostFacts } from '@dock/testkit/src/docks/fake-host.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { saveInventory } from './host-store.ts'
import { createEnrolment, type Enrolment, listBuilderMarks, markBuilder } from './index.ts'

let database: FreshDatabase
let enrolment: Enrolment

beforeAll(async () => {
  database = await createFreshDatabase()
  enrolment = createEnrolment({ db: database.db, clock: systemClock })
})
afterAll(() => database.drop())

const register = (joinToken: string, host: { hostId?: string; formerCredential?: string } = {}) =>
  enrolment.register({ joinToken, facts: hostFacts(), ...host }, '127.0.0.1')
const isBuilder = async (hostId: string): Promise<boolean | undefined> =>
  (await listBuilderMarks(database.db)).find(({ id }) => id === hostId)?.isBuilder

it('marks a host as builder only if it joins with a builder token', async () => {
  const plain = await register(await enrolment.issueJoinToken())
  const builder = await register(await enrolment.issueJoinToken({ isForBuilder: true }))
  expect(await isBuilder(plain.hostId)).toBe(false)
  expect(await isBuilder(builder.hostId)).toBe(true)
})

it('keeps the builder mark when the host joins again with a plain token', async () => {
  const { hostId, credential } = await register(await enrolment.issueJoinToken({ isForBuilder: true }))
  await register(await enrolment.issueJoinToken(), { hostId, formerCredential: credential })
  expect(await isBuilder(hostId)).toBe(true)
})

it('lets an operator set and clear the builder mark', async () => {
  const { hostId } = await register(await enrolment.issueJoinToken())
  expect(await markBuilder(database.db, hostId, true)).toBe(true)
  expect(await isBuilder(hostId)).toBe(true)
  expect(await markBuilder(database.db, hostId, false)).toBe(true)
  expect(await isBuilder(hostId)).toBe(false)
  expect(await markBuilder(database.db, newUuid(), true)).toBe(false)
})

it('remembers the memory that a sandbox takes beyond its Dock, as the host last reported it', async () => {
  const joinToken = await enrolment.issueJoinToken()
  const facts = hostFacts({ sandboxHeadroomMiB: 32 })
  const { hostId: id } = await enrolment.register({ joinToken, facts }, '127.0.0.1')
  const headroom = async () =>
    (await sql`select sandbox_headroom_mib as mib from hosts where id = ${id}`.execute(database.db)).rows
  expect(await headroom()).toEqual([{ mib: 32 }])
  const report = { id, pressure: { memAvailableBytes: 1, diskFreeBytes: 1 }, running: 0, now: new Date() }
  await saveInventory(database.db, { ...report, facts: hostFacts({ sandboxHeadroomMiB: 64 }) })
  expect(await headroom()).toEqual([{ mib: 64 }])
  // An agent of an earlier release does not report it.
  await saveInventory(database.db, { ...report, facts: hostFacts() })
  expect(await headroom()).toEqual([{ mib: 128 }])
})

it('remembers the release of the runtime, as the host last reported it', async () => {
  const joinToken = await enrolment.issueJoinToken()
  const runtimeRelease = { version: '20240729.0', source: 'DOCK_RUNSC', releasedAt: '2024-07-29' }
  const facts = hostFacts({ runtimeRelease })
  const { hostId: id } = await enrolment.register({ joinToken, facts }, '127.0.0.1')
  const release = async () =>
    (await sql`select runtime_release as release from hosts where id = ${id}`.execute(database.db)).rows
  expect(await release()).toEqual([{ release: runtimeRelease }])
  const report = { id, pressure: { memAvailableBytes: 1, diskFreeBytes: 1 }, running: 0, now: new Date() }
  await saveInventory(database.db, { ...report, facts: hostFacts({ runtimeRelease: { version: '2' } }) })
  expect(await release()).toEqual([{ release: { version: '2' } }])
  // An agent of an earlier release does not report it.
  await saveInventory(database.db, { ...report, facts: hostFacts() })
  expect(await release()).toEqual([{ release: null }])
})
