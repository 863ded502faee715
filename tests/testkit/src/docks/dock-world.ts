/** A control plane for tests: a real database, a fake host, a clock that the test advances, and one organization. */
import { join } from 'node:path'
import type { Db } from '@dock/control-plane/src/database/database.ts'
import { createDockModules, type DockModules } from '@dock/control-plane/src/dock-modules.ts'
import { createVisitor, type Visitor } from '@dock/control-plane/src/modules/accounts/index.ts'
import { type CreateDockBody, createDock } from '@dock/control-plane/src/modules/docks/boot/create-dock.ts'
import { generousLimits, type Limits } from '@dock/control-plane/src/modules/limits/index.ts'
import { defaultCopySettings } from '@dock/control-plane/src/modules/storage/index.ts'
import { openObjectStore } from '@dock/control-plane/src/object-store/index.ts'
import { createRateLimits } from '@dock/control-plane/src/rate-limits/rate-limits.ts'
import { sealedColumns } from '@dock/control-plane/src/sealed-columns.ts'
import { createSealer, newRingEntry, parseKeyRing } from '@dock/control-plane/src/sealing/index.ts'
import { createLogger, newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { runFolder } from '../run-folder.ts'
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts'
import { createFakeHost, type FakeHost, hostFacts, inventoryOf } from './fake-host.ts'

/** Inserts an Environment with an empty version 1. */
export async function insertEnvironment(
  db: Db,
  organizationId: string,
  { name, isDefault = false }: { name: string; isDefault?: boolean },
): Promise<void> {
  await sql`with e as (insert into environments (organization_id, name, is_default)
      values (${organizationId}, ${name}, ${isDefault}) returning id)
    insert into environment_versions (environment_id, organization_id, version)
    select id, ${organizationId}, 1 from e`.execute(db)
}

export type TestWorld = {
  db: Db
  clock: VirtualClock
  host: FakeHost
  hostId: string
  modules: DockModules
  caller: Visitor
  stranger: Visitor
  organizationId: string
  workspaceId: string
  body(over?: Partial<CreateDockBody>): CreateDockBody
  create(over?: Partial<CreateDockBody>, key?: string): ReturnType<typeof createDock>
  /** Creates a second control plane process on the same database and host. */
  another(): DockModules
  /** Sends the host's inventory, and waits until it is processed. */
  report(): Promise<void>
  /** Advances the clock without heartbeats of the host. The process checks for silent hosts every second. */
  beSilent(ms?: number, process?: DockModules): Promise<void>
  /** Returns the host's reservations, and the number of placed Docks counted from the rows. The two must agree. */
  reserved(): Promise<{ slots: number; cpus: number; recounted: number }>
}

const callerOf = (userId: string): Visitor =>
  createVisitor(
    {
      kind: 'api_key',
      userId,
      email: 'somebody@example.test',
      emailVerified: true,
      credentialId: newUuid(),
      instanceAdmin: false,
    },
    { role: 'member', outsider: 'dock_not_found' },
  )

/** Creates the world in an empty or shared database, and reports its host online. */
export async function createTestWorld(
  db: Db,
  options: {
    billing?: boolean
    limits?: Partial<Limits>
    hostLostAfterMs?: number
    runImage?: string
  } = {},
): Promise<TestWorld> {
  const clock = createVirtualClock()
  const logger = createLogger('test')
  logger.level = 'silent'
  const hostId = newUuid()
  const host = createFakeHost(hostId)
  const rateLimits = createRateLimits()
  const ring = parseKeyRing(newRingEntry())
  const policy = { cpuOvercommit: 128, memoryOvercommit: 24 }
  const store = openObjectStore(undefined, join(runFolder(), `dock-objects-${hostId}`))
  const another = (): DockModules =>
    createDockModules({
      db,
      clock,
      logger,
      policy,
      defaultImage: 'debian-13',
      runImage: options.runImage ?? null,
      catalog: ['debian-13', 'ubuntu-24.04'],
      rateLimits,
      sealer: createSealer({ db, clock, ring, columns: sealedColumns }),
      keyRing: ring,
      execTimeoutSecondsMax: 600,
      fingerprintKey: Buffer.alloc(32, 7),
      billing: options.billing ?? false,
      limits: { ...generousLimits.organization, ...options.limits },
      hostLostAfterMs: options.hostLostAfterMs ?? 300_000,
      gitServers: { github: 'https://github.com', gitlab: 'https://gitlab.com' },
      grantFor: async () => null,
      store,
      copySettings: defaultCopySettings,
      hostGateway: host,
    })
  const modules = another()
  const [userId, strangerId, organizationId, workspaceId] = [newUuid(), newUuid(), newUuid(), newUuid()]
  for (const id of [userId, strangerId])
    await sql`insert into users (id, name, email) values (${id}, 'Somebody', ${`${id}@example.test`})`.execute(
      db,
    )
  await sql`insert into organizations (id, name, slug) values (${organizationId}, 'Org', ${`org-${organizationId}`})`.execute(
    db,
  )
  await sql`insert into memberships (organization_id, user_id, role) values (${organizationId}, ${userId}, 'member')`.execute(
    db,
  )
  await sql`insert into workspaces (id, organization_id, name, slug)
    values (${workspaceId}, ${organizationId}, 'Main', 'main')`.execute(db)
  await insertEnvironment(db, organizationId, { name: 'default', isDefault: true })
  const joinToken = await modules.enrolment.issueJoinToken()
  await modules.enrolment.register({ joinToken, hostId, facts: hostFacts() }, '127.0.0.1')

  const caller = callerOf(userId)
  const body: TestWorld['body'] = (over = {}) => ({
    workspaceId,
    cpus: 1,
    memoryMiB: 512,
    diskGiB: 1,
    ttlSeconds: null,
    noEnv: false,
    ...over,
  })
  const world: TestWorld = {
    db,
    clock,
    host,
    hostId,
    modules,
    caller,
    stranger: callerOf(strangerId),
    organizationId,
    workspaceId,
    body,
    create: (over, key) => createDock(modules.context, caller, body(over), key),
    another,
    report: async () => {
      await modules.hostEvents.handle(
        hostId,
        inventoryOf({
          runtimes: [...host.sandboxes.values()],
          pool: host.warmPool,
          captures: [...host.captures],
          unidentified: [...host.unidentified],
          remembered: host.instance.watermark,
        }),
      )
      await modules.hostEvents.settled()
      await modules.images.run()
    },
    beSilent: async (ms = 31_000, process = modules) => {
      for (let passed = 0; passed < ms; passed += 1_000) {
        clock.advance(1_000)
        await process.hostEvents.noticeSilence()
      }
    },
    reserved: async () => {
      const result = await sql<{ slots: number; cpus: number; recounted: number }>`
        select h.reserved_slots as slots, h.reserved_cpus as cpus,
          (select count(*) from docks d where d.placed and d.host_id = h.id)::int as recounted
        from hosts h where h.id = ${hostId}`.execute(db)
      return result.rows[0]!
    },
  }
  await world.report()
  return world
}
