import { type Clock, createLogger, newUuid, systemClock } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Listener, listen } from '../../database/listen.ts'
import { refusesSecrets } from '../docks/index.ts'
import { type AccessHold, type AccessSignals, createAccessSignals } from './access-signals.ts'

let database: FreshDatabase
let signals: AccessSignals
let listener: Listener | undefined
const [userId, sessionId, keyId, organizationId] = [newUuid(), newUuid(), newUuid(), newUuid()]
const [sshKeyId, dockId] = [newUuid(), newUuid()]
const bySession: AccessHold = { userId, credentialId: sessionId, organizationId, dockId }
const byKey: AccessHold = { userId, credentialId: keyId, organizationId, dockId }
const bySshKey: AccessHold = { userId, credentialId: sshKeyId, organizationId, dockId }
const logger = createLogger('test')
logger.level = 'silent'

/** Wires the signals to NOTIFY as the server does. Returns the process id of the listening database connection. */
const startListening = async (clock: Clock): Promise<number> => {
  signals = createAccessSignals({ db: database.db, clock, logger, refusesSecrets })
  signals.start()
  listener = listen({
    url: database.url,
    on: { access_lost: signals.notice },
    clock,
    onLost: () => undefined,
  })
  return vi.waitFor(
    async () => {
      const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
        where query = 'listen access_lost' and state = 'idle' and datname = current_database()`.execute(
        database.db,
      )
      expect(rows).toHaveLength(1)
      return rows[0]!.pid
    },
    { timeout: 60_000 },
  )
}

beforeEach(async () => {
  database = await createFreshDatabase()
  await sql`
    with u as (insert into users (id, name, email) values (${userId}, 'A', 'a@example.test')),
      o as (insert into organizations (id, name, slug) values (${organizationId}, 'O', 'org')),
      m as (insert into memberships (organization_id, user_id, role) values (${organizationId}, ${userId}, 'owner')),
      s as (insert into sessions (id, user_id, token, expires_at)
        values (${sessionId}, ${userId}, 't', '2100-01-01')),
      h as (insert into ssh_keys (id, user_id, name, public_key, fingerprint, created_at)
        values (${sshKeyId}, ${userId}, 's', 'p', 'f', now()))
    insert into api_keys (id, user_id, name, key_prefix, key_hash) values (${keyId}, ${userId}, 'k', 'p', 'h')`.execute(
    database.db,
  )
})
afterEach(async () => {
  signals.stop()
  await listener?.close()
  listener = undefined
  await database.drop()
})

const losses = {
  'a revoked key': { hold: byKey, act: sql`update api_keys set revoked_at = now()` },
  'a deleted key': { hold: byKey, act: sql`delete from api_keys` },
  'a deleted SSH key': { hold: bySshKey, act: sql`delete from ssh_keys` },
  'an ended session': { hold: bySession, act: sql`delete from sessions` },
  'a lost membership': { hold: byKey, act: sql`delete from memberships` },
  'a deleted organization': { hold: bySession, act: sql`delete from organizations` },
  'a closed account': { hold: bySession, act: sql`update users set closed_at = now()` },
}

describe('a NOTIFY, without any sweep, reports', () => {
  beforeEach(() => startListening(createVirtualClock()))

  it.each(Object.entries(losses))('%s', async (_, { hold, act }) => {
    const lost = Promise.withResolvers<void>()
    signals.subscribe(hold, lost.resolve)
    await act.execute(database.db)
    await lost.promise
  })

  it('nothing to connections of other credentials or to ended subscriptions', async () => {
    const onLost = vi.fn()
    signals.subscribe(bySession, onLost)
    const end = signals.subscribe(byKey, onLost)
    end()
    const lost = Promise.withResolvers<void>()
    signals.subscribe(bySshKey, onLost)
    signals.subscribe(byKey, lost.resolve)
    await losses['a revoked key'].act.execute(database.db)
    await lost.promise
    expect(onLost).not.toHaveBeenCalled()
  })
})

it('finds an expired session in its sweep and reports it once', async () => {
  const clock = createVirtualClock()
  signals = createAccessSignals({ db: database.db, clock, logger, refusesSecrets })
  signals.start()
  const lost = Promise.withResolvers<void>()
  const onLost = vi.fn(lost.resolve)
  signals.subscribe(bySession, onLost)
  await sql`update sessions set expires_at = ${new Date(clock.now().getTime() + 1_000)}`.execute(database.db)
  clock.advance(5_000)
  await lost.promise
  await sql`delete from sessions`.execute(database.db)
  clock.advance(5_000)
  expect(onLost).toHaveBeenCalledTimes(1)
})

it('reports losses again after the listening connection was terminated', async () => {
  const pid = await startListening(systemClock)
  await sql`select pg_terminate_backend(${pid}::int)`.execute(database.db)
  const lost = Promise.withResolvers<void>()
  signals.subscribe(byKey, lost.resolve)
  await losses['a revoked key'].act.execute(database.db)
  await lost.promise
})
