/** Routes of the installations that are linked to a workspace. One of another workspace reads as not found. */
import { type Installation, type InstallationSettings, ServiceError } from '@dock/contract'
import { type Tx, withTransaction } from '../../../database/database.ts'
import { isForeignKeyViolation } from '../../../database/violations.ts'
import type { Member } from '../../accounts/index.ts'
import { auditNames, changesOf, recordAudit } from '../../audit/index.ts'
import type { GithubContext } from '../github-context.ts'
import {
  findInstallationRow,
  findSettings,
  type InstallationRow,
  listInstallationRows,
  type SettingsChange,
  updateInstallationRow,
  updateSettings,
} from './installation-store.ts'
import { unlinkInstallationRow } from './unlink.ts'
import { viewInstallation } from './view-installation.ts'

type Named = { workspaceId: string; id: string }

const tenantOf = ({ organizationId }: Member, { workspaceId }: { workspaceId: string }) => ({
  organizationId,
  workspaceId,
})

const requireInstallation = async (
  { db }: Pick<GithubContext, 'db'>,
  caller: Member,
  named: Named,
): Promise<InstallationRow> => {
  const row = await findInstallationRow(db, tenantOf(caller, named), named.id)
  if (!row) throw new ServiceError('installation_not_found')
  return row
}

/** Returns how an entry of the audit log names an installation: by the workspace to which it is linked. */
const targetOf = (row: InstallationRow) => ({
  organizationId: row.organization_id,
  target: { type: 'workspace', id: row.workspace_id },
})

type Fields = Parameters<typeof changesOf>[0]

/** Records the changed fields. A command is named, and not told. */
const recordChange = async (
  tx: Tx,
  caller: Member,
  row: InstallationRow,
  { former, change, now }: { former: Fields; change: Partial<Fields>; now: Date },
): Promise<void> => {
  const details = changesOf(former, change)
  if (!details) return
  const told = Object.entries(details).filter(
    ([field]) => !commandFields.some((each) => field.startsWith(each)),
  )
  const commands = commandFields.filter((field) => field in details)
  await recordAudit(tx, caller, {
    action: 'github.changed',
    now,
    ...targetOf(row),
    details: {
      repositories: auditNames(row.repos),
      ...Object.fromEntries(told),
      ...(commands.length > 0 ? { changed: auditNames(commands) } : {}),
    },
  })
}

const commandFields = ['testCommand', 'commandTemplate']

/** GET /v1/github/installations. */
export async function listInstallations(
  { db }: GithubContext,
  caller: Member,
  workspaceId: string,
): Promise<Installation[]> {
  return (await listInstallationRows(db, tenantOf(caller, { workspaceId }))).map(viewInstallation)
}

/** GET /v1/github/installations/:id. */
export async function readInstallation(
  context: GithubContext,
  caller: Member,
  named: Named,
): Promise<Installation> {
  return viewInstallation(await requireInstallation(context, caller, named))
}

/** PATCH /v1/github/installations/:id. */
export async function updateInstallation(
  context: GithubContext,
  caller: Member,
  named: Named,
  change: { agent?: string | undefined; testCommand?: string | null | undefined },
): Promise<Installation> {
  const now = context.clock.now()
  await withTransaction(context.db, async (tx) => {
    const row = await requireInstallation({ db: tx }, caller, named)
    if (!(await updateInstallationRow(tx, tenantOf(caller, named), named.id, change, now)))
      throw new ServiceError('installation_not_found')
    const former = { agent: row.agent, testCommand: row.test_command }
    await recordChange(tx, caller, row, { former, change, now })
  })
  return readInstallation(context, caller, named)
}

/** DELETE /v1/github/installations/:id. */
export async function unlinkInstallation(
  context: GithubContext,
  caller: Member,
  named: Named,
): Promise<{ removed: true }> {
  await withTransaction(context.db, async (tx) => {
    const row = await requireInstallation({ db: tx }, caller, named)
    await unlinkInstallationRow(tx, context.runs, named.id)
    await recordAudit(tx, caller, {
      action: 'github.unlinked',
      now: context.clock.now(),
      ...targetOf(row),
      details: { repositories: auditNames(row.repos), count: row.repos.length },
    })
  })
  context.runs.wake()
  return { removed: true }
}

/** GET /v1/github/installations/:id/settings. */
export async function readInstallationSettings(
  context: GithubContext,
  caller: Member,
  named: Named,
): Promise<InstallationSettings> {
  const { id } = await requireInstallation(context, caller, named)
  const settings = await findSettings(context.db, id)
  if (!settings) throw new ServiceError('installation_not_found')
  return settings
}

/** PATCH /v1/github/installations/:id/settings. Throws `environment_not_found`. */
export async function updateInstallationSettings(
  context: GithubContext,
  caller: Member,
  named: Named,
  change: SettingsChange,
): Promise<InstallationSettings> {
  const row = await requireInstallation(context, caller, named)
  if (change.environmentId) {
    const environment = await context.db
      .selectFrom('environments')
      .select('id')
      .where('organization_id', '=', caller.organizationId)
      .where('id', '=', change.environmentId)
      .executeTakeFirst()
    if (!environment) throw new ServiceError('environment_not_found')
  }
  const now = context.clock.now()
  return withTransaction(context.db, async (tx) => {
    const former = await findSettings(tx, row.id)
    const settings = await updateSettings(tx, row.id, change)
    if (!former || !settings) throw new ServiceError('installation_not_found')
    await recordChange(tx, caller, row, { former, change, now })
    return settings
  }).catch((error: unknown) => {
    // The Environment was deleted since.
    if (isForeignKeyViolation(error)) throw new ServiceError('environment_not_found')
    throw error
  })
}
