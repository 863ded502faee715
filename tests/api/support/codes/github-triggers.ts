/** Triggers for the codes of the routes of GitHub and Runs. */
import type { RouteName, Routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, type Github, type TestPerson } from '@dock/testkit'
import { linkInSession } from '@dock/testkit/src/github/linked-github.ts'
import { sql } from 'kysely'
import { resources } from '../resources.ts'
import type { Fixture, Reply } from './fixture.ts'
import { absentId, connect, onPlan, passSecret } from './steps.ts'

/** Codes of access, which access-matrix.test.ts provokes at every route, and the one of each route with input. */
export const genericCodes = [
  ...(['validation_error', 'session_required', 'forbidden', 'installation_not_found'] as const),
  ...(['run_not_found', 'instance_admin_required', 'email_verification_required'] as const),
] as const
type GenericCode = (typeof genericCodes)[number]

export type GithubFixture = Fixture & { github: Github; instanceAdmin: TestPerson }
export type GithubTrigger = ((fixture: GithubFixture) => Promise<Reply>) | { because: string }

type GithubRoute = {
  [Name in RouteName]: Routes[Name]['tag'] extends 'GitHub Runs' ? Name : never
}[RouteName]

/** A trigger for every code of every route, except the generic ones. A missing trigger does not compile. */
export type GithubTriggers = {
  readonly [Each in GithubRoute]: {
    readonly [Code in Exclude<Routes[Each]['errors'][number], GenericCode>]: GithubTrigger
  }
}

/** Sends a request in a session, by default that of the owner. */
export async function inSession(
  { server, owner }: Pick<Fixture, 'server' | 'owner'>,
  method: string,
  path: string,
  body: object | undefined,
  as: TestPerson = owner,
): Promise<Reply> {
  const response = await server.fetch(path, {
    method,
    headers: { cookie: as.cookie, origin: server.config.apiUrl, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { code, data } = (await response.json()) as { code?: string; data?: unknown }
  return { status: response.status, code, data }
}

const post = (fixture: GithubFixture, path: string, body: object = {}) =>
  inSession(fixture, 'POST', path, body)
const appPath = '/v1/github/app'
const manifestPath = `${appPath}/manifest`
const atApp = (fixture: GithubFixture, method: string, path: string, body?: object) =>
  inSession(fixture, method, path, body, fixture.instanceAdmin)
const beginManifest = async (fixture: GithubFixture): Promise<string> =>
  ((await atApp(fixture, 'POST', manifestPath, {})).data as { state: string }).state
const takeOver = (fixture: GithubFixture, code: string, state: string) =>
  atApp(fixture, 'POST', appPath, { code, state })

const beginLink = (fixture: GithubFixture) =>
  post(fixture, '/v1/github/links', { workspaceId: fixture.workspaceId })
const linkState = async (fixture: GithubFixture): Promise<string> =>
  new URL(((await beginLink(fixture)).data as { url: string }).url).searchParams.get('state')!
const authorize = (fixture: GithubFixture, state: string, code: string) =>
  post(fixture, '/v1/github/links/authorize', { workspaceId: fixture.workspaceId, state, code })
const link = (fixture: GithubFixture, selection: string, repositoryIds: number[]) =>
  post(fixture, '/v1/github/installations', { workspaceId: fixture.workspaceId, selection, repositoryIds })
const choose = async (fixture: GithubFixture): Promise<string> => {
  const reply = await authorize(fixture, await linkState(fixture), fixture.github.personCode('ada'))
  return (reply.data as { selection: string }).selection
}
const addRepository = ({ github }: GithubFixture) => {
  const repository = github.world.addRepository(`acme/${newUuid()}`, { ada: 'admin' })
  github.world.install(repository)
  return repository
}

/** Asks until the person has asked too often. */
const tooOften = async (ask: () => Promise<Reply>): Promise<Reply> => {
  for (;;) {
    const reply = await ask()
    if (reply.status >= 300) return reply
  }
}

/** The store of states is away while `act` runs. */
const withoutStates = async ({ server }: GithubFixture, act: () => Promise<Reply>): Promise<Reply> => {
  const { db } = server.database
  await sql`alter table github_states rename to github_states_away`.execute(db)
  try {
    return await act()
  } finally {
    await sql`alter table github_states_away rename to github_states`.execute(db)
  }
}

/** Makes GitHub fail once. */
const failing = ({ github }: GithubFixture, matches: RegExp): void =>
  void github.faults.push({ matches, status: 503, times: 1 })

const startRun = ({ ask, workspaceId }: GithubFixture, repo: string, issueNumber = 1) =>
  ask('POST', '/v1/github/runs', { workspaceId, repo, issueNumber })

/** Links a new repository with an issue. */
const linkNew = async (fixture: GithubFixture) => {
  const { github, workspaceId } = fixture
  const repository = addRepository(fixture)
  const send = async <Data>(path: string, body: object) => (await post(fixture, path, body)).data as Data
  const id = await linkInSession(send, { github, workspaceId, login: 'ada' }, repository)
  const { issue } = await github.openIssue(repository, 'ada', { body: 'It fails.' })
  return { id, repo: `acme/${repository.name}`, issueNumber: issue.number }
}

/** Sets the target of an installation. */
const setFast = ({ ask, workspaceId }: GithubFixture, id: string) =>
  ask('PATCH', `/v1/github/installations/${id}/settings?workspaceId=${workspaceId}`, {
    executionTarget: 'fast',
  })

/** Starts a Run on a fast installation that GitHub knows nothing about. */
const startFast = async (fixture: GithubFixture): Promise<Reply> => {
  const { server } = fixture
  const id = await resources['/v1/github/installations/:id']!(server, fixture as never)
  await setFast(fixture, id)
  const repo = `acme/${newUuid()}`
  await sql`insert into github_repositories (repository_id, installation_id, full_name, default_branch, linked_at)
    values (floor(random() * 1e9)::bigint, ${id}, ${repo}, 'main', now())`.execute(server.database.db)
  return startRun(fixture, repo)
}

/** Saves a Run that waits for its machine. */
const waitingRun = async (fixture: GithubFixture, environment: string | null = null): Promise<string> => {
  const { server } = fixture
  const id = await resources['/v1/github/runs/:id']!(server, fixture as never)
  await sql`update runs set execution_target = 'fast', state = 'pending', repository_id = floor(random() * 1e9)::bigint,
    settings = ${JSON.stringify({ budgetUsd: 5, environment })}::jsonb where id = ${id}`.execute(
    server.database.db,
  )
  return id
}
const promote = ({ ask }: GithubFixture, id: string, as?: TestPerson) =>
  ask('POST', `/v1/github/runs/${id}/promote`, {}, { as })
const promoteWaiting = async (fixture: GithubFixture) => promote(fixture, await waitingRun(fixture))

const promotionClaimsNothing = {
  because: 'a promotion takes the machine that there is, or leaves it to the Run',
}

export const githubTriggers: GithubTriggers = {
  listRuns: {},
  readRun: {},
  stopRun: {},
  readRunLog: {},
  readRunCost: {},
  startRun: {
    not_found: (fixture) => startRun(fixture, 'acme/not-linked'),
    conflict: async (fixture) => {
      const { repo, issueNumber } = await linkNew(fixture)
      // A Run that is started here may end before the second start.
      const earlier = await waitingRun(fixture)
      await sql`update runs set (repository_id, issue_number) = (select repository_id, ${issueNumber}::int
        from github_repositories where full_name = ${repo}) where id = ${earlier}`.execute(
        fixture.server.database.db,
      )
      return startRun(fixture, repo, issueNumber)
    },
    fast_run_disabled: startFast,
    fast_run_concurrency_exceeded: async (fixture) => {
      const { server, organizationId } = fixture
      return onPlan(fixture, {}, async () => {
        await sql`update plans set fast_runs_max = 0 where name =
          (select plan from organization_plans where organization_id = ${organizationId})`.execute(
          server.database.db,
        )
        return startFast(fixture)
      })
    },
    github_unavailable: async (fixture) => {
      const { repo, issueNumber } = await linkNew(fixture)
      failing(fixture, /issues/)
      return startRun(fixture, repo, issueNumber)
    },
    unavailable: { because: 'a start needs no state of linking' },
  },
  promoteRun: {
    run_not_promotable: async (fixture) =>
      promote(fixture, await resources['/v1/github/runs/:id']!(fixture.server, fixture as never)),
    fast_run_disabled: promotionClaimsNothing,
    fast_run_concurrency_exceeded: promotionClaimsNothing,
    github_unavailable: { because: 'a promotion asks GitHub nothing' },
    environment_not_found: async (fixture) => promote(fixture, await waitingRun(fixture, absentId)),
    environment_secrets_admin_only: async (fixture) => {
      await passSecret(fixture)
      return promote(fixture, await waitingRun(fixture), fixture.member)
    },
    connector_admin_only: async (fixture) => {
      await connect(fixture)
      return promote(fixture, await waitingRun(fixture), fixture.member)
    },
    subscription_required: (fixture) => onPlan(fixture, { active: false }, () => promoteWaiting(fixture)),
    budget_exceeded: (fixture) => onPlan(fixture, { budget: 1 }, () => promoteWaiting(fixture)),
    concurrency_exceeded: (fixture) => onPlan(fixture, { docksMax: 0 }, () => promoteWaiting(fixture)),
  },
  readGithubApp: {},
  createGithubManifest: {
    conflict: (fixture) => atApp(fixture, 'POST', manifestPath, {}),
    rate_limited: (fixture) => tooOften(() => atApp(fixture, 'POST', manifestPath, {})),
    unavailable: (fixture) => withoutStates(fixture, () => atApp(fixture, 'POST', manifestPath, {})),
  },
  createGithubApp: {
    conflict: (fixture) => takeOver(fixture, 'x', 'x'),
    invalid_state: (fixture) => takeOver(fixture, fixture.github.manifestCode(), 'x'),
    invalid_code: async (fixture) => takeOver(fixture, 'x', await beginManifest(fixture)),
    github_unavailable: async (fixture) => {
      failing(fixture, /conversions/)
      return takeOver(fixture, fixture.github.manifestCode(), await beginManifest(fixture))
    },
    unavailable: (fixture) => withoutStates(fixture, () => takeOver(fixture, 'x', 'x')),
  },
  deleteGithubApp: { conflict: (fixture) => atApp(fixture, 'DELETE', appPath) },
  startGithubLink: {
    github_app_oauth_not_configured: beginLink,
    rate_limited: (fixture) => tooOften(() => beginLink(fixture)),
    unavailable: (fixture) => withoutStates(fixture, () => beginLink(fixture)),
  },
  authorizeGithubLink: {
    github_app_oauth_not_configured: (fixture) => authorize(fixture, 'x', 'x'),
    github_unavailable: async (fixture) => {
      failing(fixture, /access_token/)
      return authorize(fixture, await linkState(fixture), fixture.github.personCode('ada'))
    },
    unavailable: (fixture) => withoutStates(fixture, () => authorize(fixture, 'x', 'x')),
    invalid_state: (fixture) => authorize(fixture, 'x', fixture.github.personCode('ada')),
    invalid_code: async (fixture) => authorize(fixture, await linkState(fixture), 'x'),
  },
  linkRepositories: {
    conflict: async (fixture) => {
      const repository = addRepository(fixture)
      const other = await addPerson(fixture.server, { role: 'admin' })
      const send = async <Data>(path: string, body: object) =>
        (await inSession(fixture, 'POST', path, body, other)).data as Data
      const { workspaceId } = fixture.server.admin
      await linkInSession(send, { github: fixture.github, workspaceId, login: 'ada' }, repository)
      return link(fixture, await choose(fixture), [repository.id])
    },
    invalid_state: (fixture) => link(fixture, 'x', [1]),
    installation_not_accessible: async (fixture) => {
      addRepository(fixture)
      const theirs = fixture.github.world.addRepository(`acme/${newUuid()}`, { bob: 'admin' })
      return link(fixture, await choose(fixture), [theirs.id])
    },
    unavailable: (fixture) => withoutStates(fixture, () => link(fixture, 'x', [1])),
    github_app_oauth_not_configured: (fixture) => link(fixture, 'x', [1]),
  },
  listInstallations: {},
  readInstallation: {},
  updateInstallation: {},
  unlinkInstallation: {},
  readInstallationSettings: {},
  updateInstallationSettings: {
    environment_not_found: async (fixture) => {
      const id = await resources['/v1/github/installations/:id']!(fixture.server, fixture as never)
      const path = `/v1/github/installations/${id}/settings?workspaceId=${fixture.workspaceId}`
      return fixture.ask('PATCH', path, { environmentId: absentId })
    },
  },
}
