/** Routes that link repositories: first the person proves what they administer, then they choose. */
import {
  defaultCodingAgent,
  type GithubChoices,
  type Installation,
  type InstallationSettings,
  limits,
  ServiceError,
} from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { withTransaction } from '../../../database/database.ts'
import type { Member } from '../../accounts/index.ts'
import { auditNames, recordAudit } from '../../audit/index.ts'
import { returnPaths } from '../app/app-manifest.ts'
import { type GithubContext, orGithubUnavailable, requireOauth } from '../github-context.ts'
import {
  ensureInstallation,
  insertRepository,
  isLinkedElsewhere,
  listInstallationRows,
  listLinks,
  lockAndCountRepositories,
} from '../installations/installation-store.ts'
import { unlinkRepository } from '../installations/unlink.ts'
import { viewInstallation } from '../installations/view-installation.ts'
import { exchangeCode, listAdministered } from './list-administered.ts'
import { insertState, type ProvenRepository, redeemState } from './state-store.ts'

const platform = { kind: 'platform' } as const

const defaultSettings: InstallationSettings = {
  executionTarget: 'dock',
  environmentId: null,
  budgetCents: limits.github.budgetCents.default,
  timeoutSeconds: limits.github.timeoutSeconds.default,
  label: null,
  model: null,
  commandTemplate: null,
  allowWorkflowFiles: false,
}

/** POST /v1/github/links. */
export async function startGithubLink(
  context: GithubContext,
  caller: Member,
  { workspaceId }: { workspaceId: string },
): Promise<{ url: string }> {
  const { oauth } = await requireOauth(context)
  await context.rateLimits.take('githubLinks', caller.userId)
  const owner = { userId: caller.userId, workspaceId }
  const state = await insertState(context.db, 'link', owner, context.clock.now())
  const query = new URLSearchParams({
    client_id: oauth.clientId,
    redirect_uri: `${context.appUrl}${returnPaths.link}`,
    state,
  })
  return { url: `${context.githubUrl}/login/oauth/authorize?${query}` }
}

/** POST /v1/github/links/authorize. */
export async function authorizeGithubLink(
  context: GithubContext,
  caller: Member,
  { workspaceId, state, code }: { workspaceId: string; state: string; code: string },
): Promise<GithubChoices> {
  const { db, clock, api, githubUrl } = context
  const app = await requireOauth(context)
  const owner = { userId: caller.userId, workspaceId }
  await redeemState(db, 'link', state, owner, clock.now())
  const { choices, proven, isComplete } = await orGithubUnavailable(
    exchangeCode(githubUrl, app.oauth, code).then((token) => listAdministered(api, app.appId, token)),
  )
  return {
    selection: await insertState(db, 'selection', owner, clock.now(), proven),
    installations: choices,
    isComplete,
    installUrl: `${app.url}/installations/new`,
  }
}

const chooseProven = (
  proven: readonly ProvenRepository[],
  repositoryIds: readonly number[],
): ProvenRepository[] =>
  [...new Set(repositoryIds)]
    .sort((one, other) => one - other)
    .map((id) => {
      const repository = proven.find(({ repositoryId }) => repositoryId === id)
      if (!repository)
        throw new ServiceError('installation_not_accessible', {
          message: `You have not proved to administer repository ${id}. Start again, or ask its admin.`,
        })
      return repository
    })

/** POST /v1/github/installations. If it fails, the selection can be used again. */
export async function linkRepositories(
  context: GithubContext,
  caller: Member,
  body: { workspaceId: string; selection: string; repositoryIds: number[] },
): Promise<Installation[]> {
  const { db, clock, runs } = context
  const { organizationId, userId } = caller
  const { workspaceId } = body
  await requireOauth(context)
  const now = clock.now()
  const tenant = { organizationId, workspaceId }
  const changed = await withTransaction(db, async (tx) => {
    const proven = await redeemState(tx, 'selection', body.selection, { userId, workspaceId }, now)
    const chosen = chooseProven(proven, body.repositoryIds)
    await lockAndCountRepositories(tx, workspaceId)
    const links = await listLinks(tx, chosen)
    const isOld = new Set(
      links.filter((link) => link.workspaceId === workspaceId).map((link) => link.repositoryId),
    )
    const ids = new Set<string>()
    for (const repository of chosen) {
      const { providerInstallationId, repositoryId } = repository
      const installationId = await ensureInstallation(
        tx,
        { id: newUuid(), providerInstallationId, ...tenant, createdBy: userId, now },
        defaultCodingAgent,
        defaultSettings,
      )
      ids.add(installationId)
      if (await isLinkedElsewhere(tx, repository)) await unlinkRepository(tx, runs, repositoryId)
      if (!(await insertRepository(tx, { ...repository, installationId, now })))
        throw new ServiceError('conflict', {
          message: `${repository.fullName} is linked to another workspace. Unlink it there first.`,
        })
    }
    if ((await lockAndCountRepositories(tx, workspaceId)) > limits.github.repositoriesPerWorkspaceMax)
      throw new ServiceError('conflict', {
        message: `A workspace can have ${limits.github.repositoriesPerWorkspaceMax} repositories. Unlink some first.`,
      })
    const added = chosen.filter(({ repositoryId }) => !isOld.has(repositoryId))
    if (added.length > 0)
      await recordAudit(tx, caller, {
        action: 'github.linked',
        now,
        organizationId,
        target: { type: 'workspace', id: workspaceId },
        details: { repositories: auditNames(added.map(({ fullName }) => fullName)), count: added.length },
      })
    // The repository was transferred, so that another organization loses its link.
    for (const link of links.filter((each) => each.organizationId !== organizationId))
      await recordAudit(tx, platform, {
        action: 'github.unlinked',
        now,
        organizationId: link.organizationId,
        target: { type: 'workspace', id: link.workspaceId },
        details: { repositories: link.fullName, count: 1 },
      })
    return (await listInstallationRows(tx, tenant)).filter(({ id }) => ids.has(id))
  })
  runs.wake()
  return changed.map(viewInstallation)
}
