/** What people do at the stand-in of GitHub. Each changes its world and sends the webhook that GitHub sends. */
import { viewAccount, viewComment, viewIssue, viewPull, viewRepository, viewReview } from './github-views.ts'
import type { GithubDelivery, GithubWebhooks } from './github-webhooks.ts'
import {
  fullNameOf,
  type GithubAccount,
  type GithubComment,
  type GithubInstallation,
  type GithubIssue,
  type GithubRepository,
  type GithubReview,
  type GithubWorld,
} from './github-world.ts'

type Did<Thing> = Thing & { delivery: GithubDelivery }

export function createGithubEvents(world: GithubWorld, webhooks: GithubWebhooks) {
  const base = (repository: GithubRepository, sender: GithubAccount) => ({
    repository: viewRepository(repository),
    sender: viewAccount(sender),
    installation: { id: world.installationOf(repository.id)?.id ?? 0, node_id: 'MDIz' },
  })
  const emit = (
    repository: GithubRepository,
    login: string,
    event: string,
    action: string,
    rest: Record<string, unknown>,
  ) => webhooks.emit(event, { action, ...rest, ...base(repository, world.addPerson(login)) })
  const issueOf = (repository: GithubRepository, number: number): GithubIssue => {
    const issue = repository.issues.find((each) => each.number === number)
    if (!issue) throw new Error(`${fullNameOf(repository)} has no issue ${number}`)
    return issue
  }
  const viewOf = (repository: GithubRepository, issue: GithubIssue) => viewIssue(world, repository, issue)

  return {
    openIssue: async (
      repository: GithubRepository,
      login: string,
      { title = 'An issue', body = '' } = {},
    ): Promise<Did<{ issue: GithubIssue }>> => {
      const issue = world.addIssue(repository, login, title, body)
      const delivery = await emit(repository, login, 'issues', 'opened', { issue: viewOf(repository, issue) })
      return { issue, delivery }
    },
    comment: async (
      repository: GithubRepository,
      number: number,
      login: string,
      body: string,
      { viaAppId = null }: { viaAppId?: number | null } = {},
    ): Promise<Did<{ comment: GithubComment }>> => {
      const issue = issueOf(repository, number)
      const comment = world.addComment(repository, number, { login, body, viaAppId })
      const rest = { issue: viewOf(repository, issue), comment: viewComment(comment) }
      return { comment, delivery: await emit(repository, login, 'issue_comment', 'created', rest) }
    },
    editComment: async (
      repository: GithubRepository,
      comment: GithubComment,
      login: string,
      body: string,
    ): Promise<GithubDelivery> => {
      const changes = { body: { from: comment.body } }
      Object.assign(comment, { body, updatedAt: world.time() })
      const issue = viewOf(repository, issueOf(repository, comment.issueNumber))
      return emit(repository, login, 'issue_comment', 'edited', {
        issue,
        comment: viewComment(comment),
        changes,
      })
    },
    label: async (
      repository: GithubRepository,
      number: number,
      login: string,
      name: string,
    ): Promise<GithubDelivery> => {
      const issue = issueOf(repository, number)
      const label = { id: world.nextId(), name }
      issue.labels.push(label)
      issue.updatedAt = world.time()
      return emit(repository, login, 'issues', 'labeled', { issue: viewOf(repository, issue), label })
    },
    closeIssue: async (
      repository: GithubRepository,
      number: number,
      login: string,
    ): Promise<GithubDelivery> => {
      const issue = issueOf(repository, number)
      Object.assign(issue, { state: 'closed', updatedAt: world.time() })
      return emit(repository, login, 'issues', 'closed', { issue: viewOf(repository, issue) })
    },
    /** Opens a pull request by hand: from the repository itself, or from a fork. */
    openPull: async (
      repository: GithubRepository,
      login: string,
      {
        head,
        base: into = 'main',
        from = repository,
      }: { head: string; base?: string; from?: GithubRepository },
    ): Promise<Did<{ issue: GithubIssue }>> => {
      const issue = world.addIssue(repository, login, head, '')
      issue.pull = {
        ...{ id: world.nextId(), head, base: into, isDraft: false, mergedAt: null },
        headRepositoryId: from.id,
      }
      const pull = viewPull(world, repository, issue, '0'.repeat(40))
      const delivery = await emit(repository, login, 'pull_request', 'opened', {
        ...{ number: issue.number, pull_request: pull },
      })
      return { issue, delivery }
    },
    closePull: async (
      repository: GithubRepository,
      number: number,
      login: string,
      { merge }: { merge: boolean },
    ): Promise<GithubDelivery> => {
      const issue = issueOf(repository, number)
      Object.assign(issue, { state: 'closed', updatedAt: world.time() })
      if (merge) issue.pull!.mergedAt = world.time()
      const pull = viewPull(world, repository, issue, '0'.repeat(40))
      return emit(repository, login, 'pull_request', 'closed', { number, pull_request: pull })
    },
    review: async (
      repository: GithubRepository,
      number: number,
      login: string,
      given: { body: string; state?: GithubReview['state']; remarks?: GithubReview['remarks'] },
    ): Promise<Did<{ review: GithubReview }>> => {
      const review: GithubReview = {
        ...{ id: world.nextId(), number, user: world.addPerson(login), body: given.body },
        ...{ state: given.state ?? 'commented', submittedAt: world.time(), remarks: given.remarks ?? [] },
      }
      repository.reviews.push(review)
      // A review tells less of the pull request.
      const { merged: _, ...pull } = viewPull(world, repository, issueOf(repository, number), '0'.repeat(40))
      const rest = { pull_request: pull, review: viewReview(review) }
      return { review, delivery: await emit(repository, login, 'pull_request_review', 'submitted', rest) }
    },
    rename: (repository: GithubRepository, name: string): Promise<GithubDelivery> => {
      const changes = { repository: { name: { from: repository.name } } }
      repository.name = name
      return emit(repository, repository.owner.login, 'repository', 'renamed', { changes })
    },
    /** Moves a repository to another account. The App is not installed there. */
    transfer: (repository: GithubRepository, owner: string): Promise<GithubDelivery> => {
      const changes = { owner: { from: { organization: viewAccount(repository.owner) } } }
      const installation = world.installationOf(repository.id)
      repository.owner = world.addPerson(owner, 'Organization')
      const payload = { action: 'transferred', ...base(repository, repository.owner), changes }
      installation?.repositoryIds.delete(repository.id)
      return webhooks.emit('repository', payload)
    },
    removeRepositories: (
      installation: GithubInstallation,
      ids: readonly number[],
    ): Promise<GithubDelivery> => {
      for (const id of ids) installation.repositoryIds.delete(id)
      return webhooks.emit('installation_repositories', {
        ...{ action: 'removed', installation: { id: installation.id, app_id: world.app.id } },
        ...{ repositories_added: [], repositories_removed: ids.map((id) => ({ id })) },
        ...{ repository_selection: 'selected', sender: viewAccount(installation.account) },
      })
    },
    uninstall: (installation: GithubInstallation): Promise<GithubDelivery> => {
      world.installations.splice(world.installations.indexOf(installation), 1)
      return webhooks.emit('installation', {
        ...{ action: 'deleted', installation: { id: installation.id, app_id: world.app.id } },
        ...{ repositories: [], sender: viewAccount(installation.account) },
      })
    },
  }
}

export type GithubEvents = ReturnType<typeof createGithubEvents>
