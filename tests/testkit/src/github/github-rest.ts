/** The REST API of the stand-in: the App, the person, and what repository-rest.ts answers. */
import { createPublicKey, verify } from 'node:crypto'
import { viewAccount, viewRepository } from './github-views.ts'
import type { GithubWorld } from './github-world.ts'
import { answerForRepository } from './repository-rest.ts'
import { notFound, page, type RestRequest, type RestResponse, refused, type Scope } from './rest-request.ts'

/** True if the token is the App's own: signed with its key, and not over ten minutes long. */
const isApp = ({ app }: GithubWorld, bearer: string | undefined): boolean => {
  const [head, claims, signature] = (bearer ?? '').split('.')
  if (!head || !claims || !signature) return false
  const signed = Buffer.from(`${head}.${claims}`)
  if (!verify('sha256', signed, createPublicKey(app.publicKey), Buffer.from(signature, 'base64url')))
    return false
  const { iss, iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, number>
  return String(iss) === String(app.id) && exp! - iat! <= 660
}

const makeInstallationToken = ({ world }: Scope, id: number, body: Record<string, unknown>): RestResponse => {
  const installation = world.installations.find((each) => each.id === id)
  if (!installation) return notFound
  const names = (body.repositories as string[] | undefined)?.map(
    (name) => world.repositories.find((each) => each.name === name)?.id ?? -1,
  )
  const ids = (body.repository_ids as number[] | undefined) ?? names
  if (ids?.some((each) => !installation.repositoryIds.has(each)))
    return refused(
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    )
  const permissions = (body.permissions as Record<string, string> | undefined) ?? {
    ...{ contents: 'write', issues: 'write', pull_requests: 'write', checks: 'write', metadata: 'read' },
  }
  const repositoryIds = ids ? new Set(ids) : installation.repositoryIds
  const token = world.addToken({ kind: 'installation', installationId: id, repositoryIds, permissions })
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  return { status: 201, body: { token, expires_at, permissions } }
}

const ofApp = async (scope: Scope, request: RestRequest): Promise<RestResponse | null> => {
  const { world, webhooks } = scope
  const { method, path } = request
  const conversion = /^\/app-manifests\/([^/]+)\/conversions$/.exec(path)
  if (conversion && method === 'POST') {
    const code = decodeURIComponent(conversion[1]!)
    if (world.codes.get(code)?.kind !== 'manifest') return notFound
    world.codes.delete(code)
    const { app } = world
    return {
      status: 201,
      body: {
        ...{
          id: app.id,
          slug: app.slug,
          html_url: `${request.baseUrl.replace(/\/api\/v3$/, '')}/github-apps/${app.slug}`,
        },
        ...{ client_id: app.clientId, client_secret: app.clientSecret, webhook_secret: app.webhookSecret },
        pem: app.privateKey,
      },
    }
  }
  if (!path.startsWith('/app/') && path !== '/app') return null
  if (!isApp(world, request.bearer)) return refused('A JSON web token could not be decoded', 401)
  if (path === '/app') return { status: 200, body: { id: world.app.id, slug: world.app.slug } }
  const view = ({ id, account }: (typeof world.installations)[number]) => ({
    ...{ id, account: viewAccount(account), app_id: world.app.id, suspended_at: null },
  })
  if (path === '/app/installations') return { status: 200, body: world.installations.map(view) }
  const tokens = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(path)
  if (tokens && method === 'POST') return makeInstallationToken(scope, Number(tokens[1]), request.body)
  if (path === '/app/hook/deliveries') {
    const newest = webhooks.deliveries.toReversed()
    const from = Number(request.query.get('cursor') ?? 0)
    const size = Number(request.query.get('per_page') ?? 30)
    const next = `${request.baseUrl}${path}?cursor=${from + size}`
    return {
      status: 200,
      headers: newest.length > from + size ? { link: `<${next}>; rel="next"` } : {},
      body: newest.slice(from, from + size).map((each) => ({
        ...{ id: each.id, guid: each.guid, delivered_at: each.deliveredAt, redelivery: each.isRedelivery },
        ...{ status_code: each.status, event: each.event, action: each.action },
      })),
    }
  }
  const again = /^\/app\/hook\/deliveries\/(\d+)\/attempts$/.exec(path)
  if (again && method === 'POST')
    return (await webhooks.redeliver(Number(again[1]))) ? { status: 202, body: {} } : notFound
  return notFound
}

const ofPerson = ({ world }: Scope, request: RestRequest): RestResponse | null => {
  if (!request.path.startsWith('/user/')) return null
  const token = world.tokens.get(request.bearer ?? '')
  if (token?.kind !== 'person') return refused('Bad credentials', 401)
  const mayRead = (id: number) => world.repositories.find((each) => each.id === id)?.roles.has(token.login)
  const seen = world.installations.filter(({ repositoryIds }) => [...repositoryIds].some(mayRead))
  if (request.path === '/user/installations') {
    const { items, headers } = page(request, seen)
    const installations = items.map(({ id, account }) => ({
      ...{ id, app_id: world.app.id, account: viewAccount(account), suspended_at: null },
    }))
    return { status: 200, headers, body: { total_count: seen.length, installations } }
  }
  const of = /^\/user\/installations\/(\d+)\/repositories$/.exec(request.path)
  const installation = seen.find(({ id }) => id === Number(of?.[1]))
  if (!installation) return notFound
  const readable = world.repositories.filter(({ id }) => installation.repositoryIds.has(id) && mayRead(id))
  const { items, headers } = page(request, readable)
  const repositories = items.map((each) => ({
    ...viewRepository(each),
    permissions: { admin: each.roles.get(token.login) === 'admin', pull: true },
  }))
  return { status: 200, headers, body: { total_count: readable.length, repositories } }
}

/** Handles a request of the REST API. */
export async function answerRest(scope: Scope, request: RestRequest): Promise<RestResponse> {
  return (await ofApp(scope, request)) ?? ofPerson(scope, request) ?? answerForRepository(scope, request)
}
