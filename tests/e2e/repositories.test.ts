/**
 * Repositories in real Docks, served by git's http-backend over TLS. They are cloned at the start. Git in the Dock uses
 * the Dock's git door, which serves only this Dock and only its repositories. No token ever enters a Dock.
 */
import { join } from 'node:path'
import type { Dock } from '@dock/contract'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { exec, run } from './support/dock.ts'
import { type GitProvider, startGitProvider } from './support/git-provider.ts'
import { capturesFolder, filesWith } from './support/search-files.ts'
import { wordsInMemory } from './support/search-memory.ts'
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

/** Signs the first person in and links the account to the provider, like a browser. */
const link = async (name: 'github' | 'gitlab'): Promise<void> => {
  const post = (path: string, body: object, cookie = '') =>
    fetch(`${admin.baseUrl}/api/auth${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: admin.baseUrl, cookie },
      body: JSON.stringify(body),
    })
  const session = cookiesOf(await post('/sign-in/email', { email: admin.email, password: admin.password }))
  const begun = await post('/link-social', { provider: name, callbackURL: '/' }, session)
  const asked = new URL(((await begun.json()) as { url: string }).url).searchParams
  const back = new URL(asked.get('redirect_uri') ?? '')
  back.search = String(new URLSearchParams({ code: 'agreed', state: asked.get('state') ?? '' }))
  const cookie = [session, cookiesOf(begun)].join('; ')
  const ended = await fetch(back, { headers: { cookie }, redirect: 'manual' })
  expect(ended.headers.get('location')).toBe('/')
}

beforeAll(async () => {
  provider = await startGitProvider(inject('sharedServer').gitTlsFolder, [
    ...['acme/app', 'acme/app-other', 'acme/hidden', 'open/tool', 'open/other', 'lab/tool'],
  ])
  await link('github')
  await link('gitlab')
})
afterAll(async () => {
  for (const id of ['github:7', 'gitlab:7'])
    await client.call('removeConnection', { params: { id } }).catch(() => undefined)
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

it('clones private and public repositories, runs the setup script in the clone, and lets git fetch and push', async () => {
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
  expect((await inside('git -C app config remote.origin.url')).trim()).toBe(`${provider.url}/acme/app.git`)

  // Requests for other repositories go directly to the provider, without a credential.
  await inside(`git config --global http.sslCAInfo ~/authority.pem && cat >~/authority.pem <<'END'
${provider.authority}END`)
  expect(await inside(`git clone -q ${provider.url}/open/other && cat other/README`)).toBe(
    'open/other on main\n',
  )
  for (const name of ['acme/app-other', 'acme/hidden']) {
    expect((await inside(`git ls-remote --get-url ${provider.url}/${name}`)).trim()).toBe(
      `${provider.url}/${name}`,
    )
    const elsewhere = await exec(
      server,
      dock.id,
      `GIT_TERMINAL_PROMPT=0 git ls-remote ${provider.url}/${name}`,
    )
    expect(elsewhere).toMatchObject({ exitCode: 128, stderr: expect.stringContaining('terminal prompts') })
  }

  // The door identifies its Dock by the network interface. Packets of another Dock do not arrive.
  const address = (await inside(`git ls-remote --get-url ${provider.url}/acme/app`)).trim()
  expect(address).toMatch(/^http:\/\/[0-9.]+:9419\/github\/acme\/app$/)
  const other = await start(await makeEnvironment([{ fullName: 'open/tool' }]))
  const [, gateway] = /\/\/([0-9.]+):/.exec(address) ?? []
  const unheard = await exec(server, other.id, `timeout 3 bash -c 'exec 3<>/dev/tcp/${gateway}/9419'`)
  expect(unheard.exitCode).not.toBe(0)
  const own = (await run(server, other.id, `git ls-remote --get-url ${provider.url}/open/tool`)).trim()
  const refused = await exec(
    server,
    other.id,
    `cd && git init -q x && cd x && git -c user.name=A -c user.email=a@b.c commit -q --allow-empty -m x && git push ${own.replace('open/tool', 'acme/app')} HEAD:y`,
  )
  expect(refused.stderr).toContain('remote: acme/app is not among the repositories of this Dock.')
})

it('works with a GitLab repository too', async () => {
  const dock = await start(await makeEnvironment([{ provider: 'gitlab', fullName: 'lab/tool' }]))
  expect(dock).toMatchObject({ state: 'ready', setupStatus: 'done', setupError: null })
  const identity = '-c user.name=Ada -c user.email=ada@example.test'
  const push = `cd ~/work/tool && git ${identity} commit -q --allow-empty -m of-a-dock && git push -q origin HEAD:pushed`
  await run(server, dock.id, push)
  expect(await provider.git('lab/tool', 'log', '-1', '--format=%s', 'pushed')).toBe('of-a-dock\n')
})

it('becomes ready even if a clone fails, and reports which and why, without a token', async () => {
  const dock = await start(
    await makeEnvironment([
      { fullName: 'acme/hidden', setupScript: 'touch ~/never' },
      { fullName: 'open/tool', setupScript: 'touch ~/never' },
    ]),
  )
  expect(dock).toMatchObject({ state: 'ready', setupStatus: 'failed' })
  expect(dock.setupError).toContain('acme/hidden could not be cloned: ')
  expect(dock.setupError).toContain('remote: acme/hidden requires a sign-in')
  expect(dock.setupError).not.toContain('canary-')
  expect(await run(server, dock.id, 'ls ~/work; ls ~')).toBe('tool\nwork\n')
})

it('tokens never appear in processes, logs, memory or the disk of a Dock, during and after their use', async () => {
  const token = 'canary-'
  const written = freshName('of-the-user')
  const processes = watchProcesses({ token, folder: server.dataDir })
  const params = await makeEnvironment([{ fullName: 'acme/app' }])
  await client.call('setEnvironmentFile', { params, body: { path: 'mine', contents: written } })
  const dock = await start(params)
  expect(dock).toMatchObject({ state: 'ready', setupStatus: 'done' })
  // Searches what the Dock's processes can see of each other. A control process shows a word on purpose.
  const watched = `cd ~/work/app
    ( while :; do cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ; done >/dev/shm/seen 2>/dev/null ) & watcher=$!
    WORD=${written} sleep 60 & sleeper=$!
    for round in 1 2 3; do git fetch -q && git ls-remote -q >/dev/null || exit 1; done
    kill $watcher $sleeper
    wait
    WORD=${written} setsid sleep 60 >/dev/null 2>&1 &
    tr '\\0' '\\n' </dev/shm/seen | grep -a -e "^WORD=${written}$" -e can''ary- | sort -u`
  expect((await exec(server, dock.id, watched)).stdout).toBe(`WORD=${written}\n`)
  // Searches for complete tokens, because the prefix is in the arguments of the search above.
  const tokens = ['scoped', 'person', 'refresh'].map((rest) => token + rest)
  expect(await wordsInMemory(dock.id, [written, ...tokens])).toEqual(new Set([written]))
  // Ended before the searches below, which have the prefix in their arguments.
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
