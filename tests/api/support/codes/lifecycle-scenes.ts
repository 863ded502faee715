/** How each code of the routes that make, move and end Docks comes about. */
import type { TestPerson } from '@dock/testkit'
import { sql } from 'kysely'
import {
  archived,
  branch,
  connect,
  create,
  dock,
  failing,
  idOf,
  isAbsent,
  isBarred,
  nobody,
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
} from './moves.ts'
import type { Reply, Scenes, Stage } from './stage.ts'

const snapshotsHoldTheDisk = {
  because: 'a Snapshot holds the whole disk: a host needs no image to boot from it',
}
const branchesNameNoTemplate = { because: 'a branch takes no `from`' }

/** Codes of create and branch that come about in the same way; `begin` starts a Dock with the given body. */
const startScenes = (
  begin: (stage: Stage, body?: object, as?: TestPerson, headers?: Record<string, string>) => Promise<Reply>,
) => ({
  validation_error: (stage: Stage) => begin(stage, { cpus: 0 }),
  image_unknown: (stage: Stage) => begin(stage, { image: 'nothing' }),
  environment_not_found: (stage: Stage) => begin(stage, { environment: 'nowhere' }),
  dock_name_taken: async (stage: Stage) => {
    await dock(stage, { name: 'taken' })
    return begin(stage, { name: 'taken' })
  },
  idempotency_key_reused: async (stage: Stage) => {
    const headers = { 'idempotency-key': 'key' }
    idOf(await create(stage, { name: 'first' }, undefined, headers))
    return begin(stage, { name: 'second' }, undefined, headers)
  },
})

/** Branches a new Dock, whose id nobody needs. */
const branchNew = async (
  stage: Stage,
  body: object = {},
  as?: TestPerson,
  headers: Record<string, string> = {},
) => branch(stage, await dock(stage), body, as, headers)

export const lifecycleScenes: Scenes<
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
    ...startScenes(create),
    image_unavailable: (stage) => create(stage, { image: 'ubuntu-24.04' }),
    capacity_exhausted: (stage) => {
      failing(stage, 'start', 'no_space')
      return create(stage)
    },
    dock_not_found: (stage) => create(stage, { workspaceId: nobody }),
    environment_secrets_admin_only: async (stage) => {
      await passSecret(stage)
      return create(stage, {}, stage.member)
    },
    connector_admin_only: async (stage) => {
      await connect(stage)
      return create(stage, {}, stage.member)
    },
    template_not_found: (stage) => create(stage, { from: 'nowhere' }),
    template_source_missing: async (stage) => {
      await saveTemplate(stage, await dock(stage))
      await sql`update templates set snapshot_id = null where organization_id = ${stage.organizationId}`.execute(
        stage.server.database.db,
      )
      return create(stage, { from: 'golden' })
    },
    no_host_capacity: (stage) => withoutHost(stage, () => create(stage)),
    base_image_unavailable: async (stage) => {
      const id = await archived(stage)
      await saveTemplate(stage, id)
      await ofOtherRuntime(stage, id)
      return create(stage, { from: 'golden' })
    },
    subscription_required: (stage) => onPlan(stage, { active: false }, () => create(stage)),
    concurrency_exceeded: (stage) => onPlan(stage, { docksMax: 0 }, () => create(stage)),
    budget_exceeded: (stage) => onPlan(stage, { budget: 1 }, () => create(stage)),
    idempotency_in_progress: (stage) => {
      const begin = () => create(stage, { memoryMiB: 1024 }, undefined, { 'idempotency-key': 'key' })
      return whileHeld(stage, 'start', begin, begin)
    },
  },
  listDocks: { validation_error: (stage) => stage.ask('GET', '/v1/docks?filter=x') },
  readDock: { dock_not_found: isAbsent('GET') },
  updateDock: {
    validation_error: async (stage) => stage.ask('PATCH', `/v1/docks/${await dock(stage)}`, { cpus: 0 }),
    dock_not_found: isAbsent('PATCH', '', {}),
    dock_name_taken: async (stage) => {
      await dock(stage, { name: 'taken' })
      return stage.ask('PATCH', `/v1/docks/${await dock(stage)}`, { name: 'taken' })
    },
    conflict: async (stage) => stage.ask('PATCH', `/v1/docks/${await dock(stage)}`, { cpus: 1 }),
  },
  deleteDock: {
    confirm_required: async (stage) => remove(stage, await dock(stage), undefined, nobody),
    dock_not_found: (stage) => remove(stage, nobody),
    dock_delete_forbidden: async (stage) => remove(stage, await dock(stage), stage.member),
    snapshot_in_use: async (stage) => {
      const id = await archived(stage)
      await saveTemplate(stage, id)
      return remove(stage, id)
    },
    conflict: { because: 'a Dock can be deleted in every state' },
    dock_busy: async (stage) => {
      const id = await dock(stage)
      return whileHeld(
        stage,
        'stop',
        () => stop(stage, id),
        () => remove(stage, id),
      )
    },
  },
  stopDock: {
    dock_not_found: isAbsent('POST', '/stop', {}),
    dock_delete_forbidden: async (stage) => {
      await sql`update organizations set retention_enabled = true where id = ${stage.organizationId}`.execute(
        stage.server.database.db,
      )
      return stop(stage, await dock(stage), {}, stage.member)
    },
    conflict: async (stage) => {
      failing(stage, 'start', 'failed')
      await create(stage, { name: 'broken', memoryMiB: 1024 })
      const { data } = await stage.ask('GET', '/v1/docks?filter=e')
      const [broken] = data as { id: string }[]
      return stop(stage, broken!.id)
    },
    dock_busy: async (stage) => {
      const id = await dock(stage)
      return whileHeld(
        stage,
        'capture',
        () => branch(stage, id),
        () => stop(stage, id),
      )
    },
    service_unavailable: async (stage) => {
      failing(stage, 'stop', 'failed')
      return stop(stage, await dock(stage))
    },
  },
  resumeDock: {
    validation_error: async (stage) => resume(stage, await archived(stage), { ttlSeconds: 59 }),
    dock_not_found: isAbsent('POST', '/resume', {}),
    environment_not_found: async (stage) => resume(stage, await archived(stage), { environment: 'nowhere' }),
    conflict: async (stage) => resume(stage, await dock(stage)),
    environment_secrets_admin_only: async (stage) => {
      await passSecret(stage)
      return resume(stage, await archived(stage), {}, stage.member)
    },
    capacity_exhausted: async (stage) => {
      const id = await archived(stage)
      failing(stage, 'start', 'no_space')
      return resume(stage, id)
    },
    no_host_capacity: async (stage) => {
      const id = await archived(stage)
      return withoutHost(stage, () => resume(stage, id))
    },
    base_image_unavailable: async (stage) => {
      const id = await archived(stage)
      await ofOtherRuntime(stage, id)
      return resume(stage, id)
    },
    image_unavailable: snapshotsHoldTheDisk,
    dock_busy: async (stage) => {
      const id = await archived(stage)
      return whileHeld(
        stage,
        'start',
        () => resume(stage, id),
        () => resume(stage, id),
      )
    },
    subscription_required: async (stage) => {
      await setPlan(stage, {})
      const id = await archived(stage)
      return onPlan(stage, { active: false }, () => resume(stage, id))
    },
    concurrency_exceeded: async (stage) => {
      await setPlan(stage, {})
      const id = await archived(stage)
      return onPlan(stage, { docksMax: 0 }, () => resume(stage, id))
    },
    budget_exceeded: async (stage) => {
      await setPlan(stage, {})
      const id = await archived(stage)
      return onPlan(stage, { budget: 1 }, () => resume(stage, id))
    },
  },
  branchDock: {
    ...startScenes(branchNew),
    capacity_exhausted: async (stage) => {
      const id = await dock(stage)
      failing(stage, 'start', 'no_space')
      return branch(stage, id)
    },
    image_unavailable: snapshotsHoldTheDisk,
    template_not_found: branchesNameNoTemplate,
    template_source_missing: branchesNameNoTemplate,
    dock_not_found: isAbsent('POST', '/branch', {}),
    environment_secrets_admin_only: isBarred((stage, id, as) => branch(stage, id, {}, as)),
    connector_admin_only: async (stage) => {
      const id = await dock(stage, { noEnv: true })
      await connect(stage)
      return branch(stage, id, { noEnv: false }, stage.member)
    },
    no_host_capacity: async (stage) => {
      const id = await dock(stage)
      return withoutHost(stage, () => branch(stage, id))
    },
    base_image_unavailable: async (stage) => {
      const id = await archived(stage)
      await ofOtherRuntime(stage, id)
      return branch(stage, id)
    },
    subscription_required: async (stage) => {
      await setPlan(stage, {})
      const id = await dock(stage)
      return onPlan(stage, { active: false }, () => branch(stage, id))
    },
    concurrency_exceeded: async (stage) => {
      await setPlan(stage, {})
      const id = await dock(stage)
      return onPlan(stage, { docksMax: 1 }, () => branch(stage, id))
    },
    budget_exceeded: async (stage) => {
      await setPlan(stage, {})
      const id = await dock(stage)
      return onPlan(stage, { budget: 1 }, () => branch(stage, id))
    },
    idempotency_in_progress: async (stage) => {
      const id = await dock(stage)
      const begin = () => branch(stage, id, {}, undefined, { 'idempotency-key': 'key' })
      return whileHeld(stage, 'capture', begin, begin)
    },
    dock_busy: async (stage) => {
      const id = await dock(stage)
      return whileHeld(
        stage,
        'capture',
        () => branch(stage, id),
        () => branch(stage, id),
      )
    },
    conflict: async (stage) => {
      const id = await dock(stage)
      await stop(stage, id, { force: true })
      return branch(stage, id)
    },
    service_unavailable: async (stage) => {
      const id = await dock(stage)
      failing(stage, 'capture', 'failed')
      return branch(stage, id)
    },
  },
}
