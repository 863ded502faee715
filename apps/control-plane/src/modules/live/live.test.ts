/** GET /api/live over HTTP, with the changes of real statements. */
import { limits } from '@dock/contract'
import { withTransaction } from '@dock/control-plane/database'
import {
  addPerson,
  type ControlPlaneWithHost,
  type LiveEvent,
  openLiveStream,
  startControlPlaneWithHost,
  type TestPerson,
} from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { forgetForeignTransactions, pruneChanges, readCursor } from './live-store.ts'

let server: ControlPlaneWithHost
let admin: { cookie: string; origin: string }
beforeAll(async () => {
  server = await startControlPlaneWithHost()
  admin = await server.signIn()
})
afterAll(() => server.stop())

const openStream = (headers: Record<string, string>, cursor?: string) =>
  openLiveStream(server, headers, cursor)

const signInAs = async ({ cookie }: TestPerson) => ({ cookie, origin: server.config.apiUrl })

it('tells a member what changed, and nothing to others', async () => {
  const outsider = await addPerson(server)
  const [stream, others] = [await openStream(admin), await openStream(await signInAs(outsider))]
  expect(await stream.next()).toMatchObject({ event: 'ready' })
  expect(await others.next()).toMatchObject({ event: 'ready' })
  const dockId = await server.addDock()
  const { change } = await stream.change({ kind: 'dock', id: dockId })
  expect(change).toEqual({
    kind: 'dock',
    id: dockId,
    organizationId: server.admin.organizationId,
    dockId,
  })
  await server.call('POST', '/v1/organizations', { name: 'Own' }, outsider.apiKey)
  // The first that an outsider reads is their own new membership, not the Dock.
  const first = await others.next()
  expect(first).toMatchObject({ event: 'changes' })
  expect(JSON.stringify(first)).not.toContain(dockId)
  await Promise.all([stream.leave(), others.leave()])
})

it('continues after a break, without a gap', async () => {
  const stream = await openStream(admin)
  await stream.next()
  const first = await server.addDock()
  const { cursor } = await stream.change({ kind: 'dock', id: first })
  await stream.leave()
  const second = await server.addDock()
  const again = await openStream(admin, cursor)
  expect(await again.next()).toMatchObject({ event: 'resumed' })
  await again.change({ kind: 'dock', id: second })
  await again.leave()
})

it('misses nothing that changes while nobody is connected, even if a read outlasts its last reader', async () => {
  const { db } = server.database
  const waitingReads = async (): Promise<number> =>
    (
      await sql<{
        n: number
      }>`select count(*)::int as n from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query like '%live_changes%'`.execute(db)
    ).rows[0]!.n
  const stream = await openStream(admin)
  const ready = (await stream.next()) as LiveEvent
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const lock = withTransaction(db, async (tx) => {
    await sql`lock table live_changes in access exclusive mode`.execute(tx)
    locked.resolve()
    await release.promise
  })
  await locked.promise
  await sql`select pg_notify('live_changes', '')`.execute(db)
  await expect.poll(waitingReads, { interval: 10 }).toBe(1)
  await stream.leave()
  release.resolve()
  await lock
  const dockId = await server.addDock()
  const again = await openStream(admin, ready.id)
  await again.change({ kind: 'dock', id: dockId })
  await again.leave()
})

it('skips no change whose transaction commits after one with a later id', async () => {
  const { db } = server.database
  const insert = (subject: string) => sql`insert into live_changes (organization_id, kind, subject_id)
    values (${server.admin.organizationId}, 'dock', ${subject})`
  const stream = await openStream(admin)
  await stream.next()
  const [begun, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow = withTransaction(db, async (tx) => {
    await insert('early').execute(tx)
    begun.resolve()
    await commit.promise
    await sql`select pg_notify('live_changes', '')`.execute(tx)
  })
  await begun.promise
  await insert('late').execute(db)
  await sql`select pg_notify('live_changes', '')`.execute(db)
  await stream.change({ id: 'late' })
  commit.resolve()
  await slow
  await stream.change({ id: 'early' })
  await stream.leave()
})

it('asks a page to load everything again if it was away for too long, or has a cursor of another server', async () => {
  const cursor = await readCursor(server.database.db)
  await server.addDock()
  await pruneChanges(server.database.db, new Date(Date.now() + 60_000))
  const stream = await openStream(admin, cursor)
  expect(await stream.next()).toMatchObject({ event: 'resumed' })
  expect(await stream.next()).toMatchObject({ event: 'reset' })
  await stream.leave()
  const foreign = await openStream(admin, '99999999999:99999999999:')
  await foreign.next()
  expect(await foreign.next()).toMatchObject({ event: 'reset' })
  await foreign.leave()
})

it('ignores a cursor that is none', async () => {
  for (const cursor of ['x', '1:2', "1:2:'; drop table users; --", '2:1:', '5:9:7,6']) {
    const stream = await openStream(admin, cursor)
    expect(['ready', 'resumed']).toContain(((await stream.next()) as LiveEvent).event)
    await stream.leave()
  }
})

it('forgets changes that a dump of another server brought', async () => {
  const { db } = server.database
  await sql`insert into live_changes (transaction_id, kind, subject_id) values ('900000000000', 'dock', 'foreign')`.execute(
    db,
  )
  await forgetForeignTransactions(db)
  const { rows } = await sql`select 1 from live_changes where subject_id = 'foreign'`.execute(db)
  expect(rows).toEqual([])
})

it('closes when its session ends', async () => {
  const person = await addPerson(server)
  const session = await signInAs(person)
  const stream = await openStream(session)
  await stream.next()
  await sql`delete from sessions where user_id = ${person.userId}`.execute(server.database.db)
  expect(await stream.next()).toBe('closed')
})

it('shows webhooks to admins and hosts to instance admins only', async () => {
  const person = await addPerson(server)
  await sql`insert into memberships (organization_id, user_id, role)
    values (${server.admin.organizationId}, ${person.userId}, 'member')`.execute(server.database.db)
  const [stream, member] = [await openStream(admin), await openStream(await signInAs(person))]
  await Promise.all([stream.next(), member.next()])
  const note = (organizationId: string | null, kind: string, forAdmins: boolean) =>
    sql`select note_live_change(${organizationId}::uuid, null, ${forAdmins}, ${kind}, 'it', null)`.execute(
      server.database.db,
    )
  await note(server.admin.organizationId, 'webhook', true)
  await note(null, 'host', true)
  await stream.change({ kind: 'webhook' })
  await stream.change({ kind: 'host' })
  await note(server.admin.organizationId, 'template', false)
  const first = await member.next()
  expect(first).toMatchObject({ event: 'changes', data: [{ kind: 'template' }] })
  await Promise.all([stream.leave(), member.leave()])
})

it('has a limit of streams for each person', async () => {
  const session = await signInAs(await addPerson(server))
  const streams = []
  for (let n = 0; n < limits.live.streamsPerPersonMax; n++) streams.push(await openStream(session))
  expect((await server.fetch('/api/live', { headers: session })).status).toBe(429)
  await streams[0]!.leave()
  await (await openStream(session)).leave()
  await Promise.all(streams.slice(1).map(({ leave }) => leave()))
})

it('has the same limit for streams that are opened at the same time', async () => {
  const session = await signInAs(await addPerson(server))
  const { streamsPerPersonMax } = limits.live
  const responses = await Promise.all(
    Array.from({ length: streamsPerPersonMax + 8 }, () => server.fetch('/api/live', { headers: session })),
  )
  const opened = responses.filter(({ status }) => status === 200)
  expect([opened.length, responses.filter(({ status }) => status === 429).length]).toEqual([
    streamsPerPersonMax,
    8,
  ])
  await Promise.all(opened.map(({ body }) => body!.cancel()))
})

it('is refused to an API key', async () => {
  expect(await server.call('GET', '/api/live')).toMatchObject({
    status: 403,
    body: { code: 'session_required' },
  })
})
