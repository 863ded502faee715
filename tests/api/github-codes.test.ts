/**
 * Triggers every error code that the contract lists for a route of GitHub and Runs, or states why that is impossible. The
 * codes of access are those of access-matrix.test.ts.
 */
import { type ErrorCode, errorCodes, type Route, type RouteName, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import {
  addPerson,
  type ControlPlaneWithHost,
  type Github,
  startControlPlaneWithHost,
  startGithub,
} from '@dock/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFixture } from './support/codes/create-fixture.ts'
import {
  type GithubFixture,
  type GithubTrigger,
  genericCodes,
  githubTriggers,
  inSession,
} from './support/codes/github-triggers.ts'

/** The codes of the specification's GitHub part. */
const specified: readonly ErrorCode[] = [
  ...(['installation_not_found', 'installation_not_accessible', 'run_not_found'] as const),
  ...(['run_not_promotable', 'fast_run_disabled', 'fast_run_concurrency_exceeded', 'invalid_state'] as const),
  ...(['invalid_code', 'github_unavailable', 'github_app_oauth_not_configured', 'unavailable'] as const),
]

type Place = { server: ControlPlaneWithHost; port: number }
let github: Github
/** One with the App in its settings, and one without an App and without fast Runs. */
let ready: Place
let bare: Place
const start = async (environment: Record<string, string>): Promise<Place> => {
  const server = await startControlPlaneWithHost({ environment })
  return { server, port: (await server.listen()).port }
}
beforeAll(async () => {
  github = await startGithub()
  ready = await start({ ...github.settings, DOCK_BILLING: 'on' })
  bare = await start({ GITHUB_URL: github.url, DOCK_FAST_RUNS: 'off' })
})
afterAll(async () => {
  for (const place of [ready, bare]) await place?.server.stop()
  await github?.close()
})

const isWithoutApp = (name: string, code: ErrorCode): boolean =>
  code === 'fast_run_disabled' ||
  code === 'github_app_oauth_not_configured' ||
  (['createGithubManifest', 'createGithubApp'].includes(name) && code !== 'conflict')

const fixtureOf = async ({ server, port }: Place): Promise<GithubFixture> => ({
  ...(await createFixture(server, port)),
  github,
  instanceAdmin: await addPerson(server, { instanceAdmin: true }),
})

const ofGithub = (Object.entries(routes) as [RouteName, Route][]).filter(
  ([, { tag }]) => tag === 'GitHub Runs',
)
const codesOf = (name: RouteName): Readonly<Record<string, GithubTrigger>> =>
  githubTriggers[name as keyof typeof githubTriggers]

it('triggers every code of the specification', () => {
  const triggered = new Set<string>(genericCodes)
  for (const [name] of ofGithub)
    for (const [code, trigger] of Object.entries(codesOf(name)))
      if (typeof trigger === 'function') triggered.add(code)
  expect(specified.filter((code) => !triggered.has(code))).toEqual([])
})

describe.each(ofGithub)('%s', (name, route) => {
  const own = route.errors.filter((code) => !(genericCodes as readonly ErrorCode[]).includes(code))
  const triggers = codesOf(name)

  it('has a trigger for each of its own codes, and for no other', () => {
    expect(Object.keys(triggers).sort()).toEqual([...own].sort())
  })

  const triggerable = own.flatMap((code) => {
    const trigger = triggers[code]
    return typeof trigger === 'function' ? [{ code, trigger }] : []
  })
  it.for(triggerable)('responds with $code', async ({ code, trigger }) => {
    const { status, code: answered } = await trigger(await fixtureOf(isWithoutApp(name, code) ? bare : ready))
    expect({ status, code: answered }).toEqual({ status: errorCodes[code].status, code })
  })

  it.runIf(route.errors.includes('validation_error'))('responds with validation_error', async () => {
    const fixture = await fixtureOf(ready)
    const isAdmins = route.access.credentials.startsWith('instance-admin')
    const path = route.path.replaceAll(/:\w+/g, newUuid()) + (route.query ? '?workspaceId=x' : '')
    const body = route.body && { unknown: true }
    const as = isAdmins ? fixture.instanceAdmin : fixture.owner
    const { status, code } = await inSession(fixture, route.method, path, body, as)
    expect([status, code]).toEqual([400, 'validation_error'])
  })
})
