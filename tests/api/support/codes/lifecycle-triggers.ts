/** Triggers for the codes of the routes that create, change and delete Docks. */
import type { TestPerson } from '@dock/testkit'
import { sql } from 'kysely'
import type { Fixture, Reply, Triggers } from './fixture.ts'
import {
  absentId,
  archived,
  branch,
  connect,
  create,
  dock,
  failing,
  idOf,
  isAbsent,
  isBarred,
  ofOtherRuntime,
  onPlan,
  passSecret,
  remove,
  resume,
  saveTemplate,
  setPlan,
  stop,
  whileHeld,
  withoutHost,
} from './steps.ts'

const snapshotsHoldTheDisk = {
  because: 'a Snapshot contains the whole disk, so a host needs no image to boot from it',
}
const branchesNameNoTemplate = { because: 'a branch has no field `from`' }

/** Triggers shared by create and branch. `begin` starts a Dock with the given body. */
const startTriggers = (
  begin: (
    fixture: Fixture,
    body?: object,
    as?: TestPerson,
    headers?: Record<string, string>,
  ) => Promise<Reply>,
) => ({
  validation_error: (fixture: Fixture) => begin(fixture, { cpus: 0 }),
  image_unknown: (fixture: Fixture) => begin(fixture, { image: 'nothing' }),
  environment_not_found: (fixture: Fixture) => begin(fixture, { environment: 'nowhere' }),
  dock_name_taken: async (fixture: Fixture) => {
    await dock(fixture, { name: 'taken' })
    return begin(fixture, { name: 'taken' })
  },
  idempotency_key_reused: async (fixture: Fixture) => {
    const headers = { 'idempotency-key': 'key' }
    idOf(await create(fixture, { name: 'first' }, undefined, headers))
    return begin(fixture, { name: 'second' }, undefined, headers)
  },
})

/** Creates a Dock and branches it. */
const branchNew = async (
  fixture: Fixture,
  body: object = {},
  as?: TestPerson,
  headers: Record<string, string> = {},
) => branch(fixture, await dock(fixture), body, as, headers)

const turnRetentionOn = ({ server, organizationId }: Fixture) =>
  sql`update organizations set retention_enabled = true where id = ${organizationId}`.execute(
    server.database.db,
  )

export const lifecycleTriggers: Triggers<
  | 'createDock'
  | 'listDocks'
  | 'readDock'
  | 'updateDock'
  | 'deleteDock'
  | 'stopDock'
  | 'resumeDock'
  | 'branchDock'
> = {
  createDock: {
    ...startTriggers(create),
    image_unavailable: (fixture) => create(fixture, { image: 'ubuntu-24.04' }),
    capacity_exhausted: (fixture) => {
      failing(fixture, 'start', 'no_space')
      return create(fixture)
    },
    dock_not_found: (fixture) => create(fixture, { workspaceId: absentId }),
    environment_secrets_admin_only: async (fixture) => {
      await passSecret(fixture)
      return create(fixture, {}, fixture.member)
    },
    connector_admin_only: async (fixture) => {
      await connect(fixture)
      return create(fixture, {}, fixture.member)
    },
    template_not_found: (fixture) => create(fixture, { from: 'nowhere' }),
    template_source_missing: async (fixture) => {
      await saveTemplate(fixture, await dock(fixture))
      await sql`update templates set snapshot_id = null where organization_id = ${fixture.organizationId}`.execute(
        fixture.server.database.db,
      )
      return create(fixture, { from: 'golden' })
    },
    no_host_capacity: (fixture) => withoutHost(fixture, () => create(fixture)),
    base_image_unavailable: async (fixture) => {
      const id = await archived(fixture)
      await saveTemplate(fixture, id)
      await ofOtherRuntime(fixture, id)
      return create(fixture, { from: 'golden' })
    },
    subscription_required: (fixture) => onPlan(fixture, { active: false }, () => create(fixture)),
    concurrency_exceeded: (fixture) => onPlan(fixture, { docksMax: 0 }, () => create(fixture)),
    budget_exceeded: (fixture) => onPlan(fixture, { budget: 1 }, () => create(fixture)),
    idempotency_in_progress: (fixture) => {
      const begin = () => create(fixture, { memoryMiB: 1024 }, undefined, { 'idempotency-key': 'key' })
      return whileHeld(fixture, 'start', begin, begin)
    },
  },
  listDocks: { validation_error: (fixture) => fixture.ask('GET', '/v1/docks?filter=x') },
  readDock: { dock_not_found: isAbsent('GET') },
  updateDock: {
    validation_error: async (fixture) =>
      fixture.ask('PATCH', `/v1/docks/${await dock(fixture)}`, { cpus: 0 }),
    dock_not_found: isAbsent('PATCH', '', {}),
    dock_name_taken: async (fixture) => {
      await dock(fixture, { name: 'taken' })
      return fixture.ask('PATCH', `/v1/docks/${await dock(fixture)}`, { name: 'taken' })
    },
    conflict: async (fixture) => fixture.ask('PATCH', `/v1/docks/${await dock(fixture)}`, { cpus: 1 }),
    forbidden: async (fixture) => {
      await turnRetentionOn(fixture)
      return fixture.ask(
        'PATCH',
        `/v1/docks/${await dock(fixture)}`,
        { ttlSeconds: 60 },
        { as: fixture.member },
      )
    },
  },
  deleteDock: {
    confirm_required: async (fixture) => remove(fixture, await dock(fixture), undefined, absentId),
    dock_not_found: (fixture) => remove(fixture, absentId),
    dock_delete_forbidden: async (fixture) => remove(fixture, await dock(fixture), fixture.member),
    snapshot_in_use: async (fixture) => {
      const id = await archived(fixture)
      await saveTemplate(fixture, id)
      return remove(fixture, id)
    },
    conflict: { because: 'a Dock can be deleted in every state' },
    dock_busy: async (fixture) => {
      const id = await dock(fixture)
      return whileHeld(
        fixture,
        'stop',
        () => stop(fixture, id),
        () => remove(fixture, id),
      )
    },
  },
  stopDock: {
    dock_not_found: isAbsent('POST', '/stop', {}),
    dock_delete_forbidden: async (fixture) => {
      await turnRetentionOn(fixture)
      return stop(fixture, await dock(fixture), {}, fixture.member)
    },
    conflict: async (fixture) => {
      failing(fixture, 'start', 'failed')
      await create(fixture, { name: 'broken', memoryMiB: 1024 })
      const { data } = await fixture.ask('GET', '/v1/docks?filter=e')
      const [broken] = data as { id: string }[]
      return stop(fixture, broken!.id)
    },
    dock_busy: async (fixture) => {
      const id = await dock(fixture)
      return whileHeld(
        fixture,
        'capture',
        () => branch(fixture, id),
        () => stop(fixture, id),
      )
    },
    service_unavailable: async (fixture) => {
      failing(fixture, 'stop', 'failed')
      return stop(fixture, await dock(fixture))
    },
  },
  resumeDock: {
    validation_error: async (fixture) => resume(fixture, await archived(fixture), { ttlSeconds: 59 }),
    dock_not_found: isAbsent('POST', '/resume', {}),
    environment_not_found: async (fixture) =>
      resume(fixture, await archived(fixture), { environment: 'nowhere' }),
    conflict: async (fixture) => resume(fixture, await dock(fixture)),
    environment_secrets_admin_only: async (fixture) => {
      await passSecret(fixture)
      return resume(fixture, await archived(fixture), {}, fixture.member)
    },
    capacity_exhausted: async (fixture) => {
      const id = await archived(fixture)
      failing(fixture, 'start', 'no_space')
      return resume(fixture, id)
    },
    no_host_capacity: async (fixture) => {
      const id = await archived(fixture)
      return withoutHost(fixture, () => resume(fixture, id))
    },
    base_image_unavailable: async (fixture) => {
      const id = await archived(fixture)
      await ofOtherRuntime(fixture, id)
      return resume(fixture, id)
    },
    image_unavailable: snapshotsHoldTheDisk,
    dock_busy: async (fixture) => {
      const id = await archived(fixture)
      return whileHeld(
        fixture,
        'destroyCapture',
        () => remove(fixture, id),
        () => resume(fixture, id),
      )
    },
    subscription_required: async (fixture) => {
      await setPlan(fixture, {})
      const id = await archived(fixture)
      return onPlan(fixture, { active: false }, () => resume(fixture, id))
    },
    concurrency_exceeded: async (fixture) => {
      await setPlan(fixture, {})
      const id = await archived(fixture)
      return onPlan(fixture, { docksMax: 0 }, () => resume(fixture, id))
    },
    budget_exceeded: async (fixture) => {
      await setPlan(fixture, {})
      const id = await archived(fixture)
      return onPlan(fixture, { budget: 1 }, () => resume(fixture, id))
    },
    forbidden: async (fixture) => {
      const id = await archived(fixture)
      await turnRetentionOn(fixture)
      return resume(fixture, id, { ttlSeconds: 60 }, fixture.member)
    },
  },
  branchDock: {
    ...startTriggers(branchNew),
    capacity_exhausted: async (fixture) => {
      const id = await dock(fixture)
      failing(fixture, 'start', 'no_space')
      return branch(fixture, id)
    },
    image_unavailable: snapshotsHoldTheDisk,
    template_not_found: branchesNameNoTemplate,
    template_source_missing: branchesNameNoTemplate,
    dock_not_found: isAbsent('POST', '/branch', {}),
    environment_secrets_admin_only: isBarred((fixture, id, as) => branch(fixture, id, {}, as)),
    connector_admin_only: async (fixture) => {
      const id = await dock(fixture, { noEnv: true })
      await connect(fixture)
      return branch(fixture, id, { noEnv: false }, fixture.member)
    },
    no_host_capacity: async (fixture) => {
      const id = await dock(fixture)
      return withoutHost(fixture, () => branch(fixture, id))
    },
    base_image_unavailable: async (fixture) => {
      const id = await archived(fixture)
      await ofOtherRuntime(fixture, id)
      return branch(fixture, id)
    },
    subscription_required: async (fixture) => {
      await setPlan(fixture, {})
      const id = await dock(fixture)
      return onPlan(fixture, { active: false }, () => branch(fixture, id))
    },
    concurrency_exceeded: async (fixture) => {
      await setPlan(fixture, {})
      const id = await dock(fixture)
      return onPlan(fixture, { docksMax: 1 }, () => branch(fixture, id))
    },
    budget_exceeded: async (fixture) => {
      await setPlan(fixture, {})
      const id = await dock(fixture)
      return onPlan(fixture, { budget: 1 }, () => branch(fixture, id))
    },
    idempotency_in_progress: async (fixture) => {
      const id = await dock(fixture)
      const begin = () => branch(fixture, id, {}, undefined, { 'idempotency-key': 'key' })
      return whileHeld(fixture, 'capture', begin, begin)
    },
    dock_busy: async (fixture) => {
      const id = await dock(fixture)
      return whileHeld(
        fixture,
        'capture',
        () => branch(fixture, id),
        () => branch(fixture, id),
      )
    },
    conflict: async (fixture) => {
      const id = await dock(fixture)
      await stop(fixture, id, { force: true })
      return branch(fixture, id)
    },
    service_unavailable: async (fixture) => {
      const id = await dock(fixture)
      failing(fixture, 'capture', 'failed')
      return branch(fixture, id)
    },
  },
}
