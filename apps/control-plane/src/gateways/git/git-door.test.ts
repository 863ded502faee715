/** Tests the git door with real git as the client, and git's http-backend over TLS as the provider. */
import { execFile, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { createLogger } from '@dock/foundation'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { makeCertificate } from '@dock/testkit/src/make-certificate.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { GitCredential, GitRule } from '../../modules/connectors/index.ts'
import { createGitDoor, type GitDoor, type GitDoorTimes } from './git-door.ts'

const exec = promisify(execFile)
const program = new URL('../../../../../tests/e2e/support/git-provider-program.ts', import.meta.url).pathname
const dockId = randomUUID()
const lines: string[] = []
const logger = createLogger('test', { write: (line: string) => void lines.push(line) } as never)

let folder: string
let provider: ReturnType<typeof spawn>
let url: string
let asked: { method: string; url: string; hasCredential: boolean }[]
let authorities: string[]

let door: GitDoor
let listener: Server
let address: string
let policy: GitRule[]
let credentials: Map<string, GitCredential>
let forgotten: GitCredential[]
let grantedTo: unknown[]
let tree: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-git-door-'))
  const { authority, key, certificate } = await makeCertificate(folder, '127.0.0.1')
  authorities = getCACertificates('default')
  setDefaultCACertificates([...authorities, await readFile(authority, 'utf8')])
  for (const name of ['acme/app', 'acme/app-other', 'acme/hidden', 'open/tool', 'lab/tool']) {
    await mkdir(join(folder, 'repositories', name, '..'), { recursive: true })
    const made = await mkdtemp(join(folder, 'tree-'))
    await exec('git', ['-C', made, 'init', '--quiet', '--initial-branch=main'])
    await writeFile(join(made, 'README'), name)
    await exec('git', ['-C', made, 'add', '.'])
    await exec('git', [
      ...['-C', made, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.test'],
      ...['commit', '--quiet', '-m', 'first'],
    ])
    await exec('git', ['clone', '--quiet', '--bare', made, join(folder, 'repositories', `${name}.git`)])
  }
  const port = await freePort()
  url = `https://127.0.0.1:${port}`
  provider = spawn(
    process.execPath,
    [program, '127.0.0.1', String(port), join(folder, 'repositories'), key, certificate],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const heard = createInterface({ input: provider.stdout! })
  await once(heard, 'line')
  heard.on('line', (line) => void asked.push(JSON.parse(line)))
})
afterAll(async () => {
  setDefaultCACertificates(authorities)
  provider.kill()
  await rm(folder, { recursive: true, force: true })
})

const openDoor = async (times?: Partial<GitDoorTimes>, servers?: string): Promise<void> => {
  const sockets = new Map<string, Socket>()
  door = createGitDoor({
    logger,
    servers: { github: servers ?? url, gitlab: servers ?? url },
    hosts: {
      connectGit: async ({ connectionId }) => sockets.get(connectionId)!,
    },
    grantFor: async (dock) => {
      grantedTo.push(dock)
      return {
        policy,
        credentialFor: async ({ fullName }) => credentials.get(fullName) ?? null,
        forget: (credential) => void forgotten.push(credential),
      }
    },
    organizationOf: async () => 'organization',
    ...(times ? { times } : {}),
  })
  listener = createServer((socket) => {
    const connectionId = randomUUID()
    sockets.set(connectionId, socket)
    door.take('host-1', { type: 'git.connected', connectionId, dockId, generation: 3 })
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  address = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
}

const rule = (fullName: string, change: Partial<GitRule> = {}): GitRule => ({
  provider: 'github',
  fullName,
  access: 'write',
  branches: null,
  ...change,
})
const tokenOf = (name: string): GitCredential => ({
  username: 'x-access-token',
  password: `canary-scoped-${name.replace('/', '-')}`,
})

beforeEach(async () => {
  asked = []
  forgotten = []
  grantedTo = []
  policy = [rule('acme/app')]
  credentials = new Map([['acme/app', tokenOf('acme/app')]])
  tree = await mkdtemp(join(folder, 'work-'))
  await openDoor()
})
afterEach(() => {
  door.close()
  listener.close()
})

/** Runs git. Returns its output and exit code. */
const git = async (...args: string[]): Promise<{ code: number; text: string }> => {
  const env = {
    PATH: process.env.PATH,
    HOME: tree,
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
    GIT_SSL_CAINFO: join(folder, 'authority.pem'),
    GIT_TRACE_CURL: '1',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'a@b.c',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@b.c',
  }
  const ended = await exec('git', ['-C', tree, ...args], { env, maxBuffer: 2 ** 28 }).then(
    ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      text: error.stdout + error.stderr,
    }),
  )
  expect(ended.text).not.toContain('canary')
  return ended
}
const at = (name: string, server = 'github'): string => `${address}/${server}/${name}`
const bare = async (name: string, ...args: string[]): Promise<string> =>
  (await exec('git', ['-C', join(folder, 'repositories', `${name}.git`), ...args])).stdout

const commit = async (file: string, content: string | Buffer): Promise<void> => {
  await writeFile(join(tree, 'app', file), content)
  await git('-C', 'app', 'add', '.')
  await git('-C', 'app', 'commit', '-qm', file)
}

describe('a request is forwarded', () => {
  it('for a clone, a fetch and a push of a selected repository, with and without .git, in any case', async () => {
    expect((await git('clone', '-q', at('acme/app.git'), 'app')).code).toBe(0)
    expect((await git('clone', '-q', at('Acme/App'), 'other')).code).toBe(0)
    // Larger than what git sends in one chunk.
    await commit('large', randomBytes(8 * 1024 * 1024))
    expect((await git('-C', 'app', 'push', '-q', 'origin', 'HEAD:large')).code).toBe(0)
    expect((await git('-C', 'other', 'fetch', '-q')).code).toBe(0)
    expect((await git('-C', 'other', 'log', '-1', '--format=%s', 'origin/large')).text).toContain('large')
    expect(asked.length).toBeGreaterThan(5)
    expect(asked.every(({ hasCredential }) => hasCredential)).toBe(true)
    expect(grantedTo).toContainEqual({ dockId, hostId: 'host-1', generation: 3 })
  })

  it('to GitLab, with the user name that GitLab expects for a token', async () => {
    policy = [rule('lab/tool', { provider: 'gitlab' })]
    credentials.set('lab/tool', { username: 'oauth2', password: 'canary-person' })
    expect((await git('clone', '-q', at('lab/tool.git', 'gitlab'), 'tool')).code).toBe(0)
    expect(asked.every(({ hasCredential }) => hasCredential)).toBe(true)
  })

  it('for a public repository without any credential', async () => {
    policy = [rule('open/tool')]
    expect((await git('clone', '-q', at('open/tool'), 'tool')).code).toBe(0)
    expect(asked.some(({ hasCredential }) => hasCredential)).toBe(false)
  })

  it('never for a repository that is not selected: git is redirected to the provider, without a credential', async () => {
    credentials.set('acme/app-other', tokenOf('acme/app-other'))
    expect((await git('clone', '-q', at('open/tool.git'), 'tool')).code).toBe(0)
    for (const name of ['acme/app-other', 'acme/ap', 'acme/hidden', 'other/app'])
      expect((await git('ls-remote', at(name))).text).toMatch(/terminal prompts disabled|not found/)
    expect(asked.some(({ hasCredential }) => hasCredential)).toBe(false)
    const { code, text } = await git('ls-remote', at('acme/app', 'gitlab'))
    expect([code, text]).toEqual([128, expect.stringContaining('terminal prompts disabled')])
  })
})

describe('a selected repository without a credential', () => {
  const helper = () => `credential.${url}.helper=store --file=${join(folder, 'own')}`
  beforeEach(async () => {
    credentials.clear()
    const { username, password } = tokenOf('acme/app')
    await writeFile(join(folder, 'own'), `${url.replace('//', `//${username}:${password}@`)}\n`)
  })

  it('can be reached at the provider with the user’s own credential, which the door never sees', async () => {
    expect((await git('-c', helper(), 'clone', '-q', at('acme/app'), 'app')).code).toBe(0)
    await commit('own', 'change')
    expect((await git('-C', 'app', '-c', helper(), 'push', '-q', 'origin', 'HEAD:own')).code).toBe(0)
    expect(await bare('acme/app', 'log', '-1', '--format=%s', 'own')).toBe('own\n')
    const { code, text } = await git('ls-remote', at('acme/app'))
    expect([code, text]).toEqual([128, expect.stringContaining('terminal prompts disabled')])
  })

  it('cannot be pushed to around a branch rule', async () => {
    policy = [rule('acme/app', { branches: ['main'] })]
    expect((await git('-c', helper(), 'clone', '-q', at('acme/app'), 'app')).code).toBe(0)
    const { code, text } = await git('-C', 'app', '-c', helper(), 'push', 'origin', 'HEAD:past')
    expect(code).not.toBe(0)
    expect(text).toContain('remote: acme/app requires a sign-in')
  })
})

describe('a policy', () => {
  beforeEach(async () => {
    await git('clone', '-q', at('acme/app'), 'app')
  })

  it('that ends during a push ends the push', async () => {
    policy = [rule('acme/app', { branches: ['late'] })]
    const head = (await bare('acme/app', 'rev-parse', 'main')).trim()
    const line = `${'0'.repeat(40)} ${head} refs/heads/late\0report-status`
    const start = `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`
    const [, port] = /:(\d+)$/.exec(address)!
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    socket.on('error', () => undefined).resume()
    const ended = once(socket, 'close')
    socket.write(
      `POST /github/acme/app.git/git-receive-pack HTTP/1.1\r\nhost: door\r\ncontent-type: application/x-git-receive-pack-request\r\ncontent-length: ${start.length + 1_000}\r\n\r\n${start}`,
    )
    await expect.poll(() => asked.at(-1)?.url).toMatch(/receive-pack/)
    policy = []
    await ended
    expect(await bare('acme/app', 'for-each-ref')).not.toContain('late')
  })

  it('that allows reading refuses a push and gives the reason', async () => {
    policy = [rule('acme/app', { access: 'read' })]
    expect((await git('-C', 'app', 'fetch', '-q')).code).toBe(0)
    const { code, text } = await git('-C', 'app', 'push', 'origin', 'HEAD:read-only')
    expect(code).not.toBe(0)
    expect(text).toContain('remote: This Dock may only read acme/app.')
    expect(asked.some((each) => each.url.includes('receive-pack'))).toBe(false)
  })

  it('with branches allows pushes to these, but not to other branches or tags, and no deletion', async () => {
    policy = [rule('acme/app', { branches: ['release', 'agent/*'] })]
    await commit('change', randomBytes(2 * 1024 * 1024))
    expect((await git('-C', 'app', 'push', '-q', 'origin', 'HEAD:release', 'HEAD:agent/one')).code).toBe(0)
    const before = await bare('acme/app', 'for-each-ref')
    expect(before).toContain('refs/heads/agent/one')
    await commit('another', randomBytes(2 * 1024 * 1024))
    for (const [ref, reason] of [
      ['HEAD:main', 'this Dock may not push to this branch'],
      ['HEAD:agent', 'this Dock may not push to this branch'],
      ['HEAD:refs/tags/v1', 'this Dock may push branches only'],
      [':release', 'this Dock may not delete branches'],
    ]) {
      const { code, text } = await git('-C', 'app', 'push', 'origin', String(ref))
      expect([ref, code]).toEqual([ref, 1])
      expect(text).toMatch(/! \[remote rejected\]/)
      expect(text).toContain(`(${reason})`)
    }
    // One refused ref rejects the whole push.
    const both = await git('-C', 'app', 'push', 'origin', 'HEAD:release', 'HEAD:main')
    expect(both.text.match(/! \[remote rejected\]/g)).toHaveLength(2)
    expect(await bare('acme/app', 'for-each-ref')).toBe(before)
  })
})

describe('git gets an error', () => {
  it.each([
    [
      'if the provider rejects the token',
      () => credentials.set('acme/app', tokenOf('acme/x')),
      'denies this Dock access to acme/app',
    ],
  ])('%s', async (_, prepare, expected) => {
    prepare()
    const { code, text } = await git('clone', at('acme/app'), 'app')
    expect(code).not.toBe(0)
    expect(text).toContain(`remote: `)
    expect(text).toContain(expected)
    expect(forgotten).toEqual([...credentials.values()])
  })

  it('if there is no token and git does not follow redirects', async () => {
    credentials.clear()
    const { code, text } = await git('-c', 'http.followRedirects=false', 'clone', at('acme/app'), 'app')
    expect(code).not.toBe(0)
    expect(text).toContain('remote: acme/app requires a sign-in')
  })

  it.each([
    ['closed/tool', 'clone'],
    ['absent/tool', 'clone'],
    ['closed/tool', 'push'],
  ])('if nobody gives access to %s, from the door and without a sign-in prompt: %s', async (name, way) => {
    policy.push(rule(name))
    if (way === 'push') await git('clone', '-q', at('acme/app'), 'app')
    asked = []
    const { code, text } = await (way === 'push'
      ? git('-C', 'app', 'push', at(name), 'HEAD:main')
      : git('clone', at(name), 'copy'))
    expect(code).not.toBe(0)
    expect(text).toContain(
      `remote: The provider denies this Dock access to ${name} without a sign-in, and no linked`,
    )
    expect(text).toContain('Its reason: Words of the provider.')
    expect(asked).toHaveLength(1)
  })

  it('if the repository was renamed; the credential is not sent to the redirect’s target', async () => {
    policy = [rule('moved/tool')]
    credentials.set('moved/tool', tokenOf('moved/tool'))
    const { text } = await git('clone', at('moved/tool'), 'app')
    expect(text).toContain('remote: moved/tool was renamed at its provider.')
    expect(asked).toHaveLength(1)
  })

  it('unless its rule has the name of today', async () => {
    policy = [rule('moved/tool', { nowNamed: 'acme/app' })]
    credentials.set('moved/tool', tokenOf('acme/app'))
    expect((await git('clone', '-q', at('moved/tool'), 'app')).code).toBe(0)
    expect(await readFile(join(tree, 'app', 'README'), 'utf8')).toBe('acme/app')
  })

  it('if the provider cannot be reached', async () => {
    door.close()
    listener.close()
    await openDoor(undefined, `https://127.0.0.1:${await freePort()}`)
    const { text } = await git('clone', at('acme/app'), 'app')
    expect(text).toContain('remote: The provider could not be reached. Try again.')
  })
})

describe('what never reaches the provider', () => {
  it.each([
    ['LFS', 'POST', '/github/acme/app.git/info/lfs/objects/batch', 501, 'Git LFS is not supported'],
    ['the dumb protocol', 'GET', '/github/acme/app.git/info/refs', 403, 'too old'],
    ['another service', 'GET', '/github/acme/app/info/refs?service=git-upload-archive', 403, 'too old'],
    ['a second query', 'GET', '/github/acme/app/info/refs?service=git-upload-pack?x', 404, 'Not found'],
    ['the API', 'GET', '/github/acme/app/settings', 404, 'Not found'],
    ['a path upwards', 'GET', '/github/acme/../app/info/refs?service=git-upload-pack', 404, 'Not found'],
    ['an escaped path', 'GET', '/github/acme%2fapp/x/info/refs?service=git-upload-pack', 404, 'Not found'],
    ['another server', 'GET', '/elsewhere/acme/app/info/refs?service=git-upload-pack', 404, 'Not found'],
    ['a push without its type', 'POST', '/github/acme/app/git-receive-pack', 400, 'not a valid git request'],
    ['a push elsewhere', 'GET', '/github/acme/other/info/refs?service=git-receive-pack', 403, 'not among'],
  ])('%s', async (_, method, path, status, text) => {
    const answer = await fetch(address + path, { method, redirect: 'manual' })
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(text)])
    expect(asked).toEqual([])
  })

  it.each([
    ['no length', 'what is this'],
    ['a length too short', '0003'],
    ['a line that is not an update', '000bnothing'],
    ['no end', '0094'],
  ])('a push with %s, if the policy has branches', async (_, body) => {
    policy = [rule('acme/app', { branches: ['main'] })]
    const answer = await fetch(`${address}/github/acme/app/git-receive-pack`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-git-receive-pack-request' },
    })
    expect([answer.status, await answer.text()]).toEqual([400, 'This push is malformed.\n'])
    expect(asked).toEqual([])
  })

  it('the client’s own credential or cookie', async () => {
    credentials.clear()
    policy = [rule('open/tool')]
    await fetch(`${address}/github/open/tool/info/refs?service=git-upload-pack`, {
      headers: { authorization: 'Basic b3duOm93bg==', cookie: 'x=y' },
    })
    expect(asked).toEqual([expect.objectContaining({ hasCredential: false })])
  })
})

describe('limits', () => {
  const raw = async (): Promise<Socket> => {
    const socket = connect((listener.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }

  it('close a connection that sends nothing or whose head never ends', async () => {
    door.close()
    listener.close()
    await openDoor({ headMs: 200, requestMs: 60_000 })
    policy = [rule('acme/app', { branches: ['main'] })]
    const [silent, slow] = [await raw(), await raw()]
    slow.write(
      'POST /github/acme/app/git-receive-pack HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n' +
        'content-type: application/x-git-receive-pack-request\r\n\r\n0094',
    )
    await Promise.all([silent, slow].map((socket) => once(socket.resume(), 'close')))
    expect(asked).toEqual([])
  })

  it('refuse a Dock’s connections above its maximum, and ignore those far above', async () => {
    const many = await Promise.all(Array.from({ length: 16 }, raw))
    const answer = await fetch(`${address}/github/acme/app/info/refs?service=git-upload-pack`)
    expect([answer.status, await answer.text()]).toEqual([429, expect.stringContaining('at once')])
    for (const socket of many) socket.destroy()
    await expect
      .poll(async () => (await fetch(`${address}/github/acme/app/info/refs?service=git-upload-pack`)).status)
      .toBe(200)
  })
})

it('no token is logged', () => {
  expect(lines.join('\n')).not.toContain('canary')
})
