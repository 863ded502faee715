/**
 * GitHub as far as Runs need it, over TLS: git's http-backend with a token of the App, and the REST API. Arguments:
 * address, port, folder, key, certificate. The folder holds the bare repository `acme/app.git`, whose number is 77, and
 * gets `state.json` with what was written.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { serveGit } from '@dock/testkit/src/github/git-http-backend.ts'

const run = promisify(execFile)
const [, , address = '', port = '', folder = '', key = '', certificate = ''] = process.argv
const token = 'canary-installation-token'
const createdAt = '2026-01-01T00:00:00Z'
const ann = { id: 5, login: 'ann', type: 'User' }

type Pull = { number: number; head: string; base: string; title: string; body: string; draft: boolean }
const state = { pulls: [] as Pull[], comments: [] as string[], checks: [] as object[], pushes: 0, reads: 0 }
const save = (): void => writeFileSync(join(folder, 'state.json'), JSON.stringify(state))

const git = async (...words: string[]): Promise<string> =>
  (await run('git', ['-c', 'safe.directory=*', '-C', join(folder, 'acme/app.git'), ...words])).stdout.trim()

const viewPull = async (pull: Pull): Promise<object> => ({
  ...{ number: pull.number, html_url: `https://${address}/acme/app/pull/${pull.number}`, state: 'open' },
  ...{ merged_at: null, draft: pull.draft, base: { ref: pull.base } },
  head: { sha: await git('rev-parse', pull.head), ref: pull.head, repo: { id: 77 } },
})

const bodyOf = async (request: IncomingMessage): Promise<Record<string, string>> => {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text === '' ? {} : (JSON.parse(text) as Record<string, string>)
}

type Answer = { status: number; answer: unknown }
const ok = (answer: unknown, status = 200): Answer => ({ status, answer })

/** Serves a request below /repositories/77. */
const ofRepository = async (
  method: string,
  path: string,
  query: URLSearchParams,
  body: Record<string, string>,
): Promise<Answer> => {
  const branch = /^\/git\/ref\/heads\/(.+)$/.exec(path)?.[1]
  if (branch !== undefined) {
    const sha = await git('rev-parse', '--verify', '-q', `refs/heads/${decodeURIComponent(branch)}`).catch(
      () => null,
    )
    return sha === null ? ok({ message: 'Not Found' }, 404) : ok({ object: { sha } })
  }
  const [, base, head] = /^\/compare\/(.+)\.\.\.(.+)$/.exec(decodeURIComponent(path)) ?? []
  if (base && head)
    return ok({ ahead_by: Number(await git('rev-list', '--count', `${base}..${head}`)), files: [] })
  if (path === '/pulls' && method === 'GET') {
    const wanted = query.get('head')?.split(':')[1]
    return ok(await Promise.all(state.pulls.filter((pull) => pull.head === wanted).map(viewPull)))
  }
  if (path === '/pulls') {
    const { head: from = '', base: to = '', title = '', body: text = '', draft } = body
    const pull = {
      number: 100 + state.pulls.length,
      head: from,
      base: to,
      title,
      body: text,
      draft: Boolean(draft),
    }
    state.pulls.push(pull)
    return ok(await viewPull(pull), 201)
  }
  const number = Number(/^\/pulls\/(\d+)$/.exec(path)?.[1])
  const pull = state.pulls.find((each) => each.number === number)
  if (pull) return ok(await viewPull(Object.assign(pull, method === 'PATCH' ? body : {})))
  if (/^\/issues\/\d+$/.test(path))
    return ok({
      title: 'The footer is wrong',
      body: 'See it.',
      user: ann,
      comments: 0,
      created_at: createdAt,
    })
  if (/^\/issues\/\d+\/comments$/.test(path)) {
    if (method === 'GET')
      return ok(
        state.comments.map((text, index) => ({
          ...{ id: index + 1, body: text, user: { id: 9, login: 'dock[bot]', type: 'Bot' } },
          ...{ created_at: createdAt, updated_at: createdAt, performed_via_github_app: { id: 3 } },
        })),
      )
    state.comments.push(body.body ?? '')
    return ok({ id: state.comments.length }, 201)
  }
  const comment = Number(/^\/issues\/comments\/(\d+)$/.exec(path)?.[1])
  if (comment > 0) {
    state.comments[comment - 1] = body.body ?? ''
    return ok({ id: comment })
  }
  if (path.endsWith('/permission')) return ok({ permission: 'admin', role_name: 'admin', user: ann })
  if (method === 'GET' && path.endsWith('/check-runs')) return ok({ check_runs: [] })
  if (path.startsWith('/check-runs')) {
    state.checks.push(body)
    return ok({ id: state.checks.length }, 201)
  }
  return path === ''
    ? ok({ full_name: 'acme/app', default_branch: 'main' })
    : ok({ message: 'Not Found' }, 404)
}

const serveApi = async (url: URL, request: IncomingMessage): Promise<Answer> => {
  const body = await bodyOf(request)
  const path = url.pathname.slice('/api/v3'.length)
  if (path.endsWith('/access_tokens'))
    return ok({ token, expires_at: new Date(Date.now() + 3_600_000).toISOString() }, 201)
  if (path.startsWith('/repositories/77') && request.headers.authorization === `Bearer ${token}`)
    return ofRepository(
      request.method ?? 'GET',
      path.slice('/repositories/77'.length),
      url.searchParams,
      body,
    )
  return ok([])
}

const serve = (request: IncomingMessage, response: ServerResponse): void => {
  const url = new URL(request.url ?? '/', 'https://github')
  if (url.pathname.startsWith('/api/v3/')) {
    void serveApi(url, request)
      .catch((error: unknown) => ok({ message: String(error) }, 500))
      .then(({ status, answer }) => {
        save()
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
      })
    return
  }
  const given = Buffer.from(request.headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString()
  if (given === `x-access-token:${token}`) {
    if (request.method === 'POST' && url.pathname.endsWith('/git-receive-pack')) state.pushes += 1
    else state.reads += 1
    save()
    return void serveGit(request, response, { folder, path: url.pathname, user: 'dock' })
  }
  request.resume()
  response.writeHead(401, { 'www-authenticate': 'Basic realm="repositories"' }).end()
}

save()
createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, serve).listen(
  Number(port),
  address,
  () => process.stdout.write('ready\n'),
)
