/** The builder mark of hosts, which join tokens and operators set. Uses a real database. */
import { newUuid, systemClock } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { hostFacts } from '@dock/testkit/src/docks/fake-host.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
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
