/** How GitHub writes things as JSON, in its API and in its webhooks. Only fields that somebody reads. */
import {
  fullNameOf,
  type GithubAccount,
  type GithubComment,
  type GithubIssue,
  type GithubRepository,
  type GithubReview,
  type GithubWorld,
} from './github-world.ts'

type Json = Record<string, unknown>

export function viewAccount({ id, login, type }: GithubAccount): Json {
  return { id, login, type, site_admin: false }
}

export function viewRepository(repository: GithubRepository): Json {
  return {
    id: repository.id,
    name: repository.name,
    full_name: fullNameOf(repository),
    owner: viewAccount(repository.owner),
    private: repository.isPrivate,
    archived: false,
    default_branch: repository.defaultBranch,
  }
}

export function viewIssue(world: GithubWorld, repository: GithubRepository, issue: GithubIssue): Json {
  return {
    id: issue.id,
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    user: viewAccount(issue.user),
    labels: issue.labels,
    comments: repository.comments.filter(({ issueNumber }) => issueNumber === issue.number).length,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    performed_via_github_app: null,
    ...(issue.pull ? { pull_request: { html_url: pullUrl(world, repository, issue) } } : {}),
  }
}

export function viewComment(comment: GithubComment): Json {
  return {
    id: comment.id,
    body: comment.body,
    user: viewAccount(comment.user),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    performed_via_github_app: comment.viaAppId === null ? null : { id: comment.viaAppId },
  }
}

const pullUrl = (_: GithubWorld, repository: GithubRepository, { number }: GithubIssue): string =>
  `https://github.test/${fullNameOf(repository)}/pull/${number}`

/** `headSha` comes from git. */
export function viewPull(
  world: GithubWorld,
  repository: GithubRepository,
  issue: GithubIssue,
  headSha: string,
): Json {
  const pull = issue.pull!
  const ownerOf = (id: number) => world.repositories.find((each) => each.id === id)
  const headRepository = ownerOf(pull.headRepositoryId)
  return {
    id: pull.id,
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    user: viewAccount(issue.user),
    html_url: pullUrl(world, repository, issue),
    draft: pull.isDraft,
    merged: pull.mergedAt !== null,
    merged_at: pull.mergedAt,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    head: { ref: pull.head, sha: headSha, repo: headRepository ? viewRepository(headRepository) : null },
    base: { ref: pull.base, repo: viewRepository(repository) },
  }
}

export function viewReview(review: GithubReview): Json {
  return {
    id: review.id,
    body: review.body,
    state: review.state,
    user: viewAccount(review.user),
    submitted_at: review.submittedAt,
  }
}
