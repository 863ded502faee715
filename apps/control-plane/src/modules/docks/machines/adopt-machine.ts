/**
 * Makes a Dock of the machine of a fast Run, in place: same id, host, generation and processes. Nothing changes on the
 * host.
 */
import { type ErrorCode, roleReaches, ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import type { Visitor } from '../../accounts/index.ts'
import { requireQuota } from '../../limits/index.ts'
import { keysSince } from '../boot/idempotency.ts'
import { commitDock, insertChanges } from '../core/dock-commit.ts'
import { generateName } from '../core/dock-name.ts'
import { checkedMoves } from '../core/dock-state.ts'
import { readCreateContext } from '../core/dock-store.ts'
import { requireLaunch } from '../core/environment-gate.ts'
import { insertDock } from '../core/insert-dock.ts'
import { causedBy, type DockContext, quotaOf } from '../dock-context.ts'
import { movesToReady } from '../environment/repositories/repository-steps.ts'

const nameAttempts = 6

type Found = {
  id: string
  workspaceId: string
  hostname: string
  generation: number
  cpus: number
  memoryMiB: number
  diskGiB: number
  environmentId: string | null
  environmentVersion: number | null
  envPasses: boolean
  noEnv: boolean
  ip: string | null
}

/**
 * Returns the id of the Dock, or null if the Run has no machine that is up. The Dock belongs to the caller, who must pass
 * the gates of a create. The transaction must hold the lock of `lockQuota`.
 */
export async function adoptMachine(
  context: Pick<DockContext, 'clock' | 'billing' | 'limits'>,
  tx: Tx,
  caller: Visitor,
  { organizationId, runId }: { organizationId: string; runId: string },
): Promise<string | null> {
  const now = context.clock.now()
  const { rows } = await sql<Found>`
    select m.id, m.workspace_id as "workspaceId", m.hostname, m.generation, m.cpus, m.memory_mib as "memoryMiB",
      m.disk_gib as "diskGiB", m.environment_id as "environmentId", m.environment_version as "environmentVersion",
      m.env_passes as "envPasses", m.no_env as "noEnv", m.ip
    from run_machines m where m.run_id = ${runId} and m.organization_id = ${organizationId} and m.state = 'running'
    for update`.execute(tx)
  const machine = rows[0]
  if (!machine) return null
  await requireAdoptable(context, tx, caller, machine)
  await saveDock(tx, caller, machine, now)
  await sql`delete from run_machines where id = ${machine.id}`.execute(tx)
  // The Dock takes over the machine's reservation on its host, so it counts against the quota once.
  await requireQuota(tx, quotaOf(context, organizationId), machine)
  const cause = causedBy(caller, 'promote')
  await commitDock(tx, {
    dockId: machine.id,
    generation: machine.generation,
    moves: movesToReady(undefined),
    cause,
    now,
    event: 'dock.ready',
    set: sql`placed = true, ip = ${machine.ip}, ready_at = ${now}, active_at = ${now}, setup_status = 'done'`,
  })
  return machine.id
}

/** The gates of a create, for the Environment version that the machine has. */
const requireAdoptable = async (
  { clock }: Pick<DockContext, 'clock'>,
  tx: Tx,
  caller: Visitor,
  machine: Found,
): Promise<void> => {
  const { workspaceId, environmentId, environmentVersion, envPasses, noEnv } = machine
  const { role, binding } = caller.admit(
    await readCreateContext(tx, {
      userId: caller.userId,
      workspaceId,
      environment: environmentId,
      version: environmentVersion,
      key: null,
      keysSince: keysSince(clock.now()),
    }),
  )
  if (environmentId !== null && binding !== null) return requireLaunch(binding, role, noEnv)
  // A deleted Environment counts as one for admins only.
  const code: ErrorCode = 'environment_secrets_admin_only'
  if (envPasses && !roleReaches(role, 'admin')) throw new ServiceError(code)
}

/** What the Dock has from its machine `m`, and how it begins. */
const kept = {
  id: sql`m.id`,
  organization_id: sql`m.organization_id`,
  workspace_id: sql`m.workspace_id`,
  image: sql`m.image`,
  image_version: sql`m.image_version`,
  cpus: sql`m.cpus`,
  memory_mib: sql`m.memory_mib`,
  disk_gib: sql`m.disk_gib`,
  runtime: sql`m.runtime`,
  state: 'provisioning',
  generation: sql`m.generation`,
  environment: sql`m.environment`,
  environment_id: sql`m.environment_id`,
  environment_version: sql`m.environment_version`,
  env_passes: sql`m.env_passes`,
  marks: sql`m.marks`,
  no_env: sql`m.no_env`,
  host_id: sql`m.host_id`,
  placed: false,
  has_disk: true,
  setup_status: 'pending',
} as const

/** Saves the Dock in state `provisioning`, under the machine's host name if no other Dock has it. */
const saveDock = async (tx: Tx, caller: Visitor, { id, hostname }: Found, now: Date): Promise<void> => {
  const cause = causedBy(caller, 'promote')
  const birth = checkedMoves([{ from: null, to: 'provisioning', why: 'create' }])
  for (let attempt = 0; attempt < nameAttempts; attempt++) {
    const name = attempt === 0 ? hostname : generateName(attempt)
    const { rows } = await sql`
      with born as (${insertDock(
        { ...kept, name, created_by: caller.userId, state_changed_at: now, created_at: now, updated_at: now },
        sql`run_machines m where m.id = ${id}`,
        { skipTakenNames: true },
      )}),
      changes as (${insertChanges(sql`born`, birth, cause, now)})
      select id from born`.execute(tx)
    if (rows.length === 1) return
  }
  throw new ServiceError('service_unavailable')
}
