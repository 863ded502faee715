/** A stand-in of GitHub on a loopback port: REST API, git, sign-in, the manifest page, and webhooks. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGithubEvents, type GithubEvents } from './github-events.ts'
import { GithubGit, tokenOf } from './github-git.ts'
import { answerRest } from './github-rest.ts'
import { GithubWebhooks } from './github-webhooks.ts'
import { GithubWorld } from './github-world.ts'

/** The next `times` requests whose `METHOD path` matches get this status instead of an answer. */
export type GithubFault = { matches: RegExp; status: number; times: number; headers?: Record<string, string> }

export type Github = GithubEvents & {
  url: string
  world: GithubWorld
  git: GithubGit
  webhooks: GithubWebhooks
  faults: GithubFault[]
  /** Received requests as `METHOD path`, oldest first. */
  asked: string[]
  /** Who is signed in at the browser that comes to agree. */
  browserPerson: string
  /** Settings of a control plane that uses the stand-in, with its App. */
  settings: Record<string, string>
  /** Returns a code with which GitHub sends this person's browser back. */
  personCode(login: string): string
  manifestCode(): string
  close(): Promise<void>
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

const parse = (text: string, type: string | undefined): Record<string, unknown> => {
  if (text === '') return {}
  if (type?.includes('form-urlencoded')) return Object.fromEntries(new URLSearchParams(text))
  return JSON.parse(text) as Record<string, unknown>
}

export async function startGithub({ now = () => new Date() }: { now?: () => Date } = {}): Promise<Github> {
  const world = new GithubWorld(now)
  const git = new GithubGit(await mkdtemp(join(tmpdir(), 'dock-github-')))
  const webhooks = new GithubWebhooks(world)
  const newCode = (code: Parameters<typeof world.codes.set>[1]): string => {
    const text = randomBytes(10).toString('hex')
    world.codes.set(text, code)
    return text
  }

  const exchange = (body: Record<string, unknown>): object => {
    if (body.client_id !== world.app.clientId || body.client_secret !== world.app.clientSecret)
      return { error: 'incorrect_client_credentials' }
    const code = world.codes.get(String(body.code))
    if (code?.kind !== 'person') return { error: 'bad_verification_code' }
    world.codes.delete(String(body.code))
    const access_token = world.addToken({ kind: 'person', login: code.login })
    return { access_token, token_type: 'bearer', scope: '', expires_in: 28_800 }
  }

  /** The pages that a browser visits. They agree at once. Returns where the browser goes next, or null. */
  const visit = (method: string, url: URL, body: Record<string, unknown>): string | null => {
    const state = url.searchParams.get('state') ?? ''
    if (method === 'GET' && url.pathname === '/login/oauth/authorize') {
      const code = newCode({ kind: 'person', login: made.browserPerson })
      return `${url.searchParams.get('redirect_uri')}?${new URLSearchParams({ code, state })}`
    }
    if (method === 'POST' && /^\/(organizations\/[^/]+\/)?settings\/apps\/new$/.test(url.pathname)) {
      const manifest = JSON.parse(String(body.manifest)) as {
        redirect_url: string
        hook_attributes: { url: string }
      }
      world.app.hookUrl = manifest.hook_attributes.url
      return `${manifest.redirect_url}?${new URLSearchParams({ code: made.manifestCode(), state })}`
    }
    return null
  }

  const takeFault = (line: string): GithubFault | undefined => {
    const fault = made.faults.find(({ matches, times }) => times > 0 && matches.test(line))
    if (fault) fault.times -= 1
    return fault
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', made.url)
    const method = request.method ?? 'GET'
    const line = `${method} ${url.pathname}`
    made.asked.push(line)
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(body === undefined ? '' : JSON.stringify(body))
    }
    const fault = takeFault(line)
    if (fault) return answer(fault.status, { message: 'A fault of the test' }, fault.headers)
    const bearer = tokenOf(request.headers.authorization)
    const ofGit = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-(?:upload|receive)-pack)$/.exec(
      url.pathname,
    )
    if (ofGit) {
      const repository = world.findRepository(`${ofGit[1]}/${ofGit[2]}`)
      return git.serve(request, response, repository, world.tokens.get(bearer ?? ''))
    }
    const body = parse(await readBody(request), request.headers['content-type'])
    if (url.pathname === '/login/oauth/access_token') return answer(200, exchange(body))
    const next = visit(method, url, body)
    if (next !== null) {
      response.writeHead(302, { location: next }).end()
      return
    }
    const baseUrl = `${made.url}/api/v3`
    const path = url.pathname.replace(/^\/api\/v3/, '')
    const rest = { method, path, query: url.searchParams, body, bearer, baseUrl }
    const result = await answerRest({ world, git, webhooks }, rest)
    answer(result.status, result.body, result.headers)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { app } = world
  const made: Github = {
    ...createGithubEvents(world, webhooks),
    ...{ url, world, git, webhooks, faults: [], asked: [], browserPerson: 'ada' },
    settings: {
      ...{ GITHUB_URL: url, GITHUB_APP_ID: String(app.id), GITHUB_APP_SLUG: app.slug },
      ...{ GITHUB_APP_PRIVATE_KEY: app.privateKey, GITHUB_APP_WEBHOOK_SECRET: app.webhookSecret },
      ...{ GITHUB_APP_CLIENT_ID: app.clientId, GITHUB_APP_CLIENT_SECRET: app.clientSecret },
    },
    personCode: (login) => newCode({ kind: 'person', login }),
    manifestCode: () => newCode({ kind: 'manifest' }),
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await rm(git.folder, { recursive: true, force: true })
    },
  }
  return made
}
