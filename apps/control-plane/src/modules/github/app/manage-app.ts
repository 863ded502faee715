/** Routes of the GitHub App, for instance admins. */
import { type GithubApp as GithubAppView, type GithubManifest, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import * as z from 'zod'
import { withTransaction } from '../../../database/database.ts'
import { instanceOwner } from '../../../sealing/index.ts'
import type { Caller } from '../../accounts/index.ts'
import { auditNames, recordAudit } from '../../audit/index.ts'
import { GithubRefused } from '../api/github-errors.ts'
import { type GithubContext, orGithubUnavailable } from '../github-context.ts'
import { listLinks } from '../installations/installation-store.ts'
import { unlinkAll } from '../installations/unlink.ts'
import { insertState, redeemState } from '../linking/state-store.ts'
import { appManifest } from './app-manifest.ts'
import { type GithubApp, secretPlace } from './github-app.ts'

const text = z.string().min(1).max(16_384)
const conversion = z.object({
  id: z.int().positive(),
  slug: z.string().min(1).max(100),
  html_url: z.url().max(2_000),
  client_id: text,
  client_secret: text,
  webhook_secret: text,
  pem: text,
})

const viewApp = (app: GithubApp | null): GithubAppView => ({
  configured: app !== null,
  source: app?.source ?? null,
  slug: app?.slug ?? null,
  url: app?.url ?? null,
  oauthConfigured: Boolean(app?.oauth),
})

/** Returns how an entry of the audit log names the App. */
const targetOf = (slug: string) => ({ type: 'provider', id: 'github', name: slug })

/** Throws `conflict` if there is an App that a new one would have to replace. */
const requireNoApp = async ({ findApp }: GithubContext): Promise<void> => {
  const app = await findApp()
  if (app)
    throw new ServiceError('conflict', {
      message:
        app.source === 'settings'
          ? 'The settings of the instance name the GitHub App. Remove GITHUB_APP_ID first.'
          : 'The instance has a GitHub App. Delete it here first.',
    })
}

/** GET /v1/github/app. */
export async function readGithubApp({ findApp }: GithubContext): Promise<GithubAppView> {
  return viewApp(await findApp())
}

/** POST /v1/github/app/manifest. */
export async function createGithubManifest(
  context: GithubContext,
  caller: Caller,
  { owner }: { owner?: string | undefined },
): Promise<GithubManifest> {
  await requireNoApp(context)
  await context.rateLimits.take('githubLinks', caller.userId)
  const stateOwner = { userId: caller.userId, workspaceId: null }
  const state = await insertState(context.db, 'manifest', stateOwner, context.clock.now())
  const path = owner === undefined ? '/settings/apps/new' : `/organizations/${owner}/settings/apps/new`
  return {
    url: `${context.githubUrl}${path}?${new URLSearchParams({ state })}`,
    manifest: appManifest(context),
    state,
  }
}

/** POST /v1/github/app. Throws `invalid_state`, `invalid_code`, `github_unavailable` and `conflict`. */
export async function createGithubApp(
  context: GithubContext,
  caller: Caller,
  { code, state }: { code: string; state: string },
): Promise<GithubAppView> {
  const { db, clock, sealer, api } = context
  await requireNoApp(context)
  await redeemState(db, 'manifest', state, { userId: caller.userId, workspaceId: null }, clock.now())
  const path = `/app-manifests/${encodeURIComponent(code)}/conversions`
  const made = await orGithubUnavailable(
    api.read({ method: 'POST', path }, conversion).catch((error: unknown) => {
      if (error instanceof GithubRefused) throw new ServiceError('invalid_code', { cause: error })
      throw error
    }),
  )
  const id = newUuid()
  const seal = (column: Parameters<typeof secretPlace>[1], secret: string) =>
    sealer.seal(instanceOwner, secretPlace(id, column), secret)
  const now = clock.now()
  const row = {
    id,
    instance_id: instanceOwner.id,
    app_id: made.id,
    slug: made.slug,
    url: made.html_url,
    client_id: made.client_id,
    sealed_client_secret: await seal('sealed_client_secret', made.client_secret),
    sealed_webhook_secret: await seal('sealed_webhook_secret', made.webhook_secret),
    sealed_private_key: await seal('sealed_private_key', made.pem),
    created_at: now,
  }
  const isInserted = await withTransaction(db, async (tx) => {
    const inserted = await tx
      .insertInto('github_apps')
      .values(row)
      .onConflict((conflict) => conflict.column('instance_id').doNothing())
      .executeTakeFirst()
    if (!inserted.numInsertedOrUpdatedRows) return false
    await recordAudit(tx, caller, {
      action: 'github.app_created',
      now,
      organizationId: null,
      target: targetOf(made.slug),
    })
    return true
  })
  if (!isInserted) await requireNoApp(context)
  return viewApp(await context.findApp())
}

/** DELETE /v1/github/app. */
export async function deleteGithubApp(context: GithubContext, caller: Caller): Promise<{ removed: true }> {
  if (context.isAppFromSettings)
    throw new ServiceError('conflict', {
      message: 'The settings of the instance name the GitHub App. Remove GITHUB_APP_ID instead.',
    })
  await withTransaction(context.db, async (tx) => {
    const links = await listLinks(tx, null)
    await unlinkAll(tx, context.runs)
    const now = context.clock.now()
    for (const [workspaceId, ofWorkspace] of Map.groupBy(links, (link) => link.workspaceId))
      await recordAudit(tx, caller, {
        action: 'github.unlinked',
        now,
        organizationId: ofWorkspace[0]!.organizationId,
        target: { type: 'workspace', id: workspaceId },
        details: {
          repositories: auditNames(ofWorkspace.map(({ fullName }) => fullName)),
          count: ofWorkspace.length,
        },
      })
    const deleted = await tx.deleteFrom('github_apps').returning('slug').executeTakeFirst()
    if (deleted)
      await recordAudit(tx, caller, {
        action: 'github.app_deleted',
        now,
        organizationId: null,
        target: targetOf(deleted.slug),
      })
  })
  context.runs.wake()
  return { removed: true }
}
