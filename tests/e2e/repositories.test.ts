/**
 * Repositories in real Docks, from git's own http-backend: cloned at the start, reached from inside through the credential
 * helper, by this Dock and for its own repositories alone.
 */
import { join } from 'node:path'
import type { Dock } from '@dock/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exec, run } from './support/dock.ts'
import { type GitProvider, startGitProvider } from './support/git-provider.ts'
import { capturesFolder, filesWith } from './support/search-files.ts'
import { freshName, useServer } from './support/use-server.ts'
import { watchProcesses } from './support/watch-processes.ts'

const server = useServer()
const { client, admin } = server
let provider: GitProvider

const cookiesOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')

/** Signs the first person in and links them to the provider, as a browser would. */
const link = async (): Promise<void> => {
  const post = (path: string, body: object, cookie = '') =>
    fetch(`${admin.baseUrl}/api/auth${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: admin.baseUrl, cookie },
      body: JSON.stringify(body),
    })
  const session = cookiesOf(await post('/sign-in/email', { email: admin.email, password: admin.password }))
  const begun = await post('/link-social', { provider: 'github', callbackURL: '/' }, session)
  const asked = new URL(((await begun.json()) as { url: string }).url).searchParams
  const back = new URL(asked.get('redirect_uri') ?? '')
  back.search = String(new URLSearchParams({ code: 'agreed', state: asked.get('state') ?? '' }))
  const cookie = [session, cookiesOf(begun)].join('; ')
  const ended = await fetch(back, { headers: { cookie }, redirect: 'manual' })
  expect(ended.headers.get('location')).toBe('/')
}

beforeAll(async () => {
  provider = await startGitProvider(['acme/app', 'acme/hidden', 'open/tool'])
  await link()
})
afterAll(async () => {
  await client.call('removeConnection', { params: { id: 'github:7' } }).catch(() => undefined)
  await provider?.close()
})

const makeEnvironment = async (repositories: { fullName: string; [field: string]: string }[]) => {
  const body = { organizationId: admin.organizationId, name: freshName('repositories') }
  const params = { ref: (await client.call('createEnvironment', { body })).id }
  for (const repository of repositories)
    await client.call('addEnvironmentRepository', {
      params,
      body: { provider: 'github', repositoryId: repository.fullName, ...repository },
    })
  return params
}
const start = ({ ref }: { ref: string }): Promise<Dock> =>
  client.call('createDock', {
    body: { workspaceId: admin.workspaceId, cpus: 1, memoryMiB: 1024, diskGiB: 2, environment: ref },
  })

it('clones what is private and what is public, runs the setup script in the clone, and lets git fetch and push', async () => {
  const params = await makeEnvironment([
    { fullName: 'acme/app', baseBranch: 'work', setupScript: 'echo "$PWD $WORD" > /home/user/set-up' },
    { fullName: 'open/tool' },
  ])
  await client.call('setEnvironmentVariable', { params, body: { key: 'WORD', value: 'known' } })
  await client.call('setEnvironmentFile', { params, body: { path: 'app/.env', contents: 'SECRET=1' } })
  const dock = await start(params)
  expect(dock).toMatchObject({ state: 'ready', setupStatus: 'done', setupError: null })
  const inside = (command: string) => run(server, dock.id, `cd ~/work && ${command}`)
  expect(await inside('cat app/README tool/README ~/set-up')).toBe(
    'acme/app on work\nopen/tool on main\n/home/user/work/app known\n',
  )
  expect(await inside('cat app/.env; git -C app status --porcelain')).toBe('SECRET=1')

  const identity = '-c user.name=Ada -c user.email=ada@example.test'
  await inside(`cd app && date +%s%N > more && git add . && git ${identity} commit -qm third && git push -q`)
  expect(await provider.git('acme/app', 'log', '-1', '--format=%s', 'work')).toBe('third\n')
  const elsewhere = await exec(
    server,
    dock.id,
    `cd ~/work/app && git ls-remote ${provider.url}/acme/hidden.git`,
  )
  expect(elsewhere.exitCode).not.toBe(0)

  // Where git asks, it is heard as this Dock; from another one the packets do not arrive.
  const question = `protocol=http\nhost=${new URL(provider.url).host}\npath=acme/app.git\n`
  const address = (await inside('grep -o "/dev/tcp/[0-9./]*" /run/dock/git-credential')).trim()
  const ask = `exec 3<>${address} && printf '%s\\n' "$QUESTION" >&3 && timeout 5 cat <&3`
  const heard = await exec(server, dock.id, ask, { env: { QUESTION: question } })
  expect(heard.stdout).toBe('username=x-access-token\npassword=canary-scoped-acme-app\n')
  const other = await start(await makeEnvironment([{ fullName: 'open/tool' }]))
  const unheard = await exec(server, other.id, `timeout 3 bash -c 'exec 3<>${address}'`)
  expect(unheard.exitCode).not.toBe(0)
})

it('is ready though a repository cannot be had, says which and why, and never with a token', async () => {
  const dock = await start(
    await makeEnvironment([
      { fullName: 'acme/hidden', setupScript: 'touch ~/never' },
      { fullName: 'open/tool', setupScript: 'touch ~/never' },
    ]),
  )
  expect(dock).toMatchObject({ state: 'ready', setupStatus: 'failed' })
  expect(dock.setupError).toContain('acme/hidden could not be cloned: ')
  expect(dock.setupError).not.toContain('canary-')
  expect(await run(server, dock.id, 'ls ~/work; ls ~')).toBe('tool\nwork\n')
})

it('shows its tokens in no process, no log and on no disk, while git uses them and afterwards', async () => {
  const token = 'canary-'
  const written = freshName('of-the-user')
  const processes = watchProcesses({ token, folder: server.dataDir })
  const params = await makeEnvironment([{ fullName: 'acme/app' }])
  await client.call('setEnvironmentFile', { params, body: { path: 'mine', contents: written } })
  const dock = await start(params)
  expect(dock).toMatchObject({ state: 'ready', setupStatus: 'done' })
  // What processes of the Dock show each other, beside one that shows a word on purpose.
  const watched = `cd ~/work/app
    ( while :; do cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ; done >/dev/shm/seen 2>/dev/null ) & watcher=$!
    WORD=${written} sleep 60 & sleeper=$!
    for round in 1 2 3; do git fetch -q && git ls-remote -q >/dev/null || exit 1; done
    kill $watcher $sleeper
    wait
    tr '\\0' '\\n' </dev/shm/seen | grep -a -e "^WORD=${written}$" -e can''ary- | sort -u`
  expect((await exec(server, dock.id, watched)).stdout).toBe(`WORD=${written}\n`)
  // Before the searches below, which have the token among their own arguments.
  await processes.end()
  expect(processes.seen).toContain('folder in cmdline')
  expect([...processes.seen].filter((each) => each.startsWith('token'))).toEqual([])
  await client.call('stopDock', { params: { id: dock.id }, body: {} })
  const snapshot = await client.call('readLatestSnapshot', { params: { id: dock.id } })
  const capture = [join(await capturesFolder(server), String(snapshot?.id))]
  expect(await filesWith(written, capture)).toHaveLength(1)
  expect(await filesWith(token, capture)).toEqual([])
  const logs = [join(server.dataDir, 'logs')]
  expect(await filesWith('host agent ready', logs)).not.toEqual([])
  expect(await filesWith(token, logs)).toEqual([])
})
