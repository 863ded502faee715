/** The REST API of the stand-in for one repository, with GitHub's statuses for who may not. */
import { viewAccount, viewComment, viewIssue, viewPull, viewRepository } from './github-views.ts'
import { fullNameOf, type GithubIssue, type GithubRepository, type GithubToken } from './github-world.ts'
import { notFound, page, type RestRequest, type RestResponse, refused, type Scope } from './rest-request.ts'

type InRepository = Scope & {
  request: RestRequest
  repository: GithubRepository
  token: GithubToken
  rest: string
}

/** What a request needs, by the beginning of its path. */
const neededPermission = (rest: string): string => {
  if (/^\/issues/.test(rest)) return 'issues'
  if (/^\/pulls/.test(rest)) return 'pull_requests'
  if (/check-runs/.test(rest)) return 'checks'
  return /^\/(git|compare|contents)/.test(rest) ? 'contents' : 'metadata'
}

const mayCall = (token: GithubToken, repository: GithubRepository, method: string, rest: string): boolean => {
  if (token.kind === 'person') return repository.roles.has(token.login)
  const granted = token.permissions[neededPermission(rest)]
  return (
    granted === 'write' || (method === 'GET' && (granted === 'read' || neededPermission(rest) === 'metadata'))
  )
}

const legacyPermission = {
  admin: 'admin',
  maintain: 'write',
  write: 'write',
  triage: 'read',
  read: 'read',
} as const

const permissionOf = ({ world, repository }: InRepository, login: string): RestResponse => {
  const person = world.people.get(login)
  if (!person) return notFound
  const role = repository.roles.get(login)
  return {
    status: 200,
    body: {
      permission: role ? legacyPermission[role] : 'none',
      role_name: role ?? 'none',
      user: viewAccount(person),
    },
  }
}

/** Who writes with this token. */
const authorOf = ({ world, token }: InRepository): { login: string; viaAppId: number | null } =>
  token.kind === 'person'
    ? { login: token.login, viaAppId: null }
    : { login: `${world.app.slug}[bot]`, viaAppId: world.app.id }

const comments = (scope: InRepository): RestResponse => {
  const { world, repository, request, rest } = scope
  const one = /^\/issues\/comments\/(\d+)$/.exec(rest)
  if (one) {
    const comment = repository.comments.find(({ id }) => id === Number(one[1]))
    if (!comment) return notFound
    if (request.method === 'PATCH')
      Object.assign(comment, { body: request.body.body, updatedAt: world.time() })
    return { status: 200, body: viewComment(comment) }
  }
  const number = Number(/^\/issues\/(\d+)\/comments$/.exec(rest)![1])
  if (!repository.issues.some((each) => each.number === number)) return notFound
  if (request.method === 'POST') {
    const author = authorOf(scope)
    const comment = world.addComment(repository, number, { ...author, body: String(request.body.body) })
    return { status: 201, body: viewComment(comment) }
  }
  const { items, headers } = page(
    request,
    repository.comments.filter(({ issueNumber }) => issueNumber === number),
  )
  return { status: 200, headers, body: items.map(viewComment) }
}

const checks = ({ world, repository, request, rest }: InRepository): RestResponse => {
  const listed = /^\/commits\/([^/]+)\/check-runs$/.exec(rest)
  if (listed) {
    const name = request.query.get('check_name')
    const found = repository.checks.filter(
      (each) => each.head_sha === listed[1] && (!name || each.name === name),
    )
    return { status: 200, body: { total_count: found.length, check_runs: found } }
  }
  if (request.method === 'POST') {
    const made = { ...request.body, id: world.nextId() } as GithubRepository['checks'][number]
    repository.checks.push(made)
    return { status: 201, body: made }
  }
  const check = repository.checks.find(({ id }) => rest === `/check-runs/${id}`)
  if (!check) return notFound
  return { status: 200, body: Object.assign(check, request.body) }
}

const shaOf = async (scope: Scope, issue: GithubIssue): Promise<string> => {
  const repository = scope.world.repositories.find(({ id }) => id === issue.pull!.headRepositoryId)
  const sha = repository && (await scope.git.find(repository, `refs/heads/${issue.pull!.head}`))
  return sha ?? '0'.repeat(40)
}

const createPull = async (scope: InRepository): Promise<RestResponse> => {
  const { world, git, repository, request } = scope
  const { head, base, title, body, draft } = request.body as Record<string, string> & { draft?: boolean }
  const from = await git.find(repository, `refs/heads/${head}`)
  if (!from || !(await git.find(repository, `refs/heads/${base}`)))
    return refused('Validation Failed: head or base is invalid')
  if ((await git.run(repository, 'rev-list', '--count', `${base}..${head}`)) === '0')
    return refused(`Validation Failed: No commits between ${base} and ${head}`)
  if (
    repository.issues.some(
      ({ state, pull }) => state === 'open' && pull !== null && pull.head === head && pull.base === base,
    )
  )
    return refused(`Validation Failed: A pull request already exists for ${fullNameOf(repository)}:${head}.`)
  const issue = world.addIssue(repository, authorOf(scope).login, title!, body ?? '')
  issue.pull = {
    ...{ id: world.nextId(), head: head!, base: base!, isDraft: draft === true, mergedAt: null },
    headRepositoryId: repository.id,
  }
  return { status: 201, body: viewPull(world, repository, issue, from) }
}

const pulls = async (scope: InRepository): Promise<RestResponse> => {
  const { world, repository, request, rest } = scope
  if (rest === '/pulls') {
    if (request.method === 'POST') return createPull(scope)
    const head = request.query.get('head')
    const state = request.query.get('state') ?? 'open'
    const found = repository.issues.filter(
      (issue) =>
        issue.pull &&
        (state === 'all' || issue.state === state) &&
        (!head || `${repository.owner.login}:${issue.pull.head}` === head),
    )
    const body = found.map(async (issue) => viewPull(world, repository, issue, await shaOf(scope, issue)))
    return { status: 200, body: await Promise.all(body) }
  }
  const remarks = /^\/pulls\/(\d+)\/reviews\/(\d+)\/comments$/.exec(rest)
  if (remarks) {
    const review = repository.reviews.find(({ id }) => id === Number(remarks[2]))
    return review ? { status: 200, body: review.remarks } : notFound
  }
  const issue = repository.issues.find(({ number, pull }) => pull && rest === `/pulls/${number}`)
  if (!issue) return notFound
  if (request.method === 'PATCH') {
    const { title, body, state } = request.body as Partial<GithubIssue>
    Object.assign(issue, {
      title: title ?? issue.title,
      body: body ?? issue.body,
      state: state ?? issue.state,
    })
  }
  return { status: 200, body: viewPull(world, repository, issue, await shaOf(scope, issue)) }
}

const references = async ({ git, repository, rest }: InRepository): Promise<RestResponse> => {
  // Clients may escape the slashes of a branch.
  const ref = /^\/git\/ref\/heads\/(.+)$/.exec(decodeURIComponent(rest))
  if (ref) {
    const name = `refs/heads/${ref[1]}`
    const sha = await git.find(repository, name)
    return sha ? { status: 200, body: { ref: name, object: { type: 'commit', sha } } } : notFound
  }
  const [base, head] = /^\/compare\/(.+)\.\.\.(.+)$/.exec(rest)?.slice(1).map(decodeURIComponent) ?? []
  if (!base || !head || !(await git.find(repository, base)) || !(await git.find(repository, head)))
    return notFound
  const count = (range: string) => git.run(repository, 'rev-list', '--count', range).then(Number)
  const names = await git.run(repository, 'diff', '--name-only', `${base}...${head}`)
  return {
    status: 200,
    body: {
      ...{ ahead_by: await count(`${base}..${head}`), behind_by: await count(`${head}..${base}`) },
      files: names === '' ? [] : names.split('\n').map((filename) => ({ filename })),
    },
  }
}

/** Handles a request below `/repos/<owner>/<name>` or `/repositories/<id>`. */
export async function answerForRepository(scope: Scope, request: RestRequest): Promise<RestResponse> {
  const { world } = scope
  const named = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(request.path)
  const numbered = /^\/repositories\/(\d+)(\/.*)?$/.exec(request.path)
  const repository = named
    ? world.findRepository(decodeURIComponent(named[1]!))
    : world.repositories.find(({ id }) => id === Number(numbered?.[1]))
  const rest = (named ?? numbered)?.[2] ?? ''
  const token = world.tokens.get(request.bearer ?? '')
  if (!token) return refused('Bad credentials', 401)
  if (!repository) return notFound
  const isWithin =
    token.kind === 'person' ? repository.roles.has(token.login) : token.repositoryIds?.has(repository.id)
  const isInstalled =
    token.kind === 'person' || world.installations.some(({ id }) => id === token.installationId)
  if (!isWithin || !isInstalled) return notFound
  if (!mayCall(token, repository, request.method, rest))
    return refused('Resource not accessible by integration', 403)
  const inside: InRepository = { ...scope, request, repository, token, rest }
  if (rest === '') return { status: 200, body: viewRepository(repository) }
  const permission = /^\/collaborators\/([^/]+)\/permission$/.exec(rest)
  if (permission) return permissionOf(inside, decodeURIComponent(permission[1]!))
  if (/^\/issues\/(\d+\/comments|comments\/\d+)$/.test(rest)) return comments(inside)
  const issue = repository.issues.find(({ number }) => rest === `/issues/${number}`)
  if (issue) return { status: 200, body: viewIssue(world, repository, issue) }
  if (/^\/pulls(\/|$)/.test(rest)) return pulls(inside)
  if (/check-runs/.test(rest)) return checks(inside)
  if (/^\/(git\/ref|compare)\//.test(rest)) return references(inside)
  return notFound
}
