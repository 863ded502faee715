/** The clone's script itself and the helper, run as in a Dock over folders of its own, against git's own http-backend. */
import { execFile, spawn } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLogger, newUuid } from '@dock/foundation'
import type { ClonedRepositories, GitQuestion, Repository } from '@dock/host-protocol'
import type { ExecResult, RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openCredentialDoor } from '../credentials/credential-door.ts'
import { cloneRepositories } from './clone-repositories.ts'
import { dockUser } from './login-shell.ts'
import { deliverFiles } from './secret-files.ts'

const exec = promisify(execFile)
const logger = createLogger('test')
logger.level = 'silent'
const program = new URL('../../../../tests/e2e/support/git-provider-program.ts', import.meta.url).pathname
/** Loopback of this process's own: the door's port is the same everywhere. */
const gateway = `127.${(process.pid >> 16) & 255}.${(process.pid >> 8) & 255}.${process.pid & 255 || 1}`

let folder: string
let home: string
let work: string
let url: string
let door: Awaited<ReturnType<typeof openCredentialDoor>>
let provider: ReturnType<typeof spawn>
let asked: GitQuestion[]

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, gateway, () => {
      const address = probe.address()
      probe.close(() => resolve(address && typeof address === 'object' ? address.port : 0))
    })
  })
const git = (at: string, ...args: string[]) =>
  exec('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.test', '-C', at, ...args])
const makeRepository = async (name: string): Promise<void> => {
  const bare = join(folder, `repositories/${name}.git`)
  const tree = await mkdtemp(join(folder, 'tree-'))
  await git(tree, 'init', '--quiet', '--initial-branch=main')
  await writeFile(join(tree, 'README'), name)
  await writeFile(join(tree, 'tracked'), 'of git')
  await git(tree, 'add', '.')
  await git(tree, 'commit', '--quiet', '-m', 'first')
  await git(tree, 'branch', 'other')
  await exec('git', ['clone', '--quiet', '--bare', tree, bare])
}

describe.skipIf(process.getuid?.() !== 0)('repositories', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dock-clones-'))
    await chmod(folder, 0o755)
    for (const name of ['acme/app', 'acme/hidden', 'open/tool']) await makeRepository(name)
    const port = await freePort()
    url = `http://${gateway}:${port}`
    provider = spawn(process.execPath, [program, gateway, String(port), join(folder, 'repositories')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => provider.stdout?.once('data', resolve))
    door = await openCredentialDoor({
      ...{ address: gateway, logger },
      ask: async (question) => {
        asked.push(question)
        return question.path === 'acme/app.git'
          ? { username: 'x-access-token', password: 'canary-scoped-acme-app' }
          : null
      },
    })
  })
  afterAll(async () => {
    door?.close()
    provider?.kill()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    asked = []
    home = await mkdtemp(join(folder, 'home-'))
    await chmod(home, 0o755)
    work = join(home, 'user/work')
    await mkdir(work, { recursive: true })
    for (const each of [join(home, 'user'), work]) await chown(each, dockUser.uid, dockUser.gid)
    await mkdir(join(home, 'run'))
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  const inside = [
    '-m',
    '/bin/bash',
    '-c',
    'mount --bind "$0/run" /run && mount --bind "$0" /home && exec "$@"',
  ]
  const driver = {
    exec: (_, { argv, env, input, uid, gid }) =>
      new Promise<ExecResult>((resolve) => {
        const as = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
        const options = { env, encoding: 'buffer' } as const
        const child = execFile('unshare', [...inside, home, ...as, ...argv], options, (error, _out, stderr) =>
          resolve({ exitCode: error ? Number(error.code) : 0, stderr } as ExecResult),
        )
        child.stdin?.end(input)
      }),
  } as Pick<RuntimeDriver, 'exec'> as RuntimeDriver
  const sandbox = {} as SandboxHandle

  const wanted = (name: string, more: Partial<Repository> = {}): Repository => ({
    ...{ id: newUuid(), name, url: `${url}/${name}.git`, folder: name.split('/')[1]! },
    ...{ branch: null, hasSetupScript: false, ...more },
  })
  const clone = (...repositories: Repository[]): Promise<ClonedRepositories> =>
    cloneRepositories(
      driver,
      sandbox,
      { operationId: 'op', generation: 1, repositories, timeoutMs: 60_000 },
      gateway,
    )
  const read = (path: string) => readFile(join(work, path), 'utf8')

  it('are cloned whole, at their branch, with what the helper brings; what is there stays', async () => {
    const app = wanted('acme/app', { branch: 'other', hasSetupScript: true })
    const tool = wanted('open/tool')
    expect(await clone(app, tool)).toEqual({ failed: [], cloned: [tool.id], toSetUp: [app.id] })
    expect(await read('app/README')).toBe('acme/app')
    expect(await read('app/.git/HEAD')).toBe('ref: refs/heads/other\n')
    expect(asked).toContainEqual({ protocol: 'http', host: new URL(url).host, path: 'acme/app.git' })
    await writeFile(join(work, 'app/README'), 'mine')
    expect(await clone(app, tool)).toEqual({ failed: [], cloned: [], toSetUp: [app.id] })
    await rm(join(work, 'app/.git/dock-setup'))
    expect(await clone(app, tool)).toEqual({ failed: [], cloned: [], toSetUp: [] })
    expect(await read('app/README')).toBe('mine')
    // Neither the token nor a half clone is on the disk.
    const found = await exec('grep', ['-rl', 'canary-', home]).catch(() => ({ stdout: '' }))
    expect(found.stdout).toBe('')
    expect(await readdir(join(home, 'user/.dock'))).toEqual([])
  })

  it('make room for secret files that are there, which git never sees', async () => {
    await deliverFiles(driver, sandbox, [
      { path: 'app/.env', contents: 'SECRET=1' },
      { path: 'app/deep/[key]*', contents: 'k' },
      { path: 'app/tracked', contents: 'secret' },
    ])
    const app = wanted('acme/app')
    expect(await clone(app)).toEqual({ failed: [], cloned: [app.id], toSetUp: [] })
    expect([await read('app/.env'), await read('app/README'), await read('app/tracked')]).toEqual([
      ...['SECRET=1', 'acme/app', 'secret'],
    ])
    const { stdout } = await exec('git', [
      '-c',
      'safe.directory=*',
      '-C',
      join(work, 'app'),
      'status',
      '--porcelain',
    ])
    expect(stdout).toBe(' M tracked\n')
  })

  it('fail one by one, with the words of git, and leave nothing half made', async () => {
    const [hidden, tool] = [wanted('acme/hidden'), wanted('open/tool', { branch: 'nowhere' })]
    const app = wanted('acme/app')
    const { failed, cloned } = await clone(hidden, tool, app)
    expect(cloned).toEqual([app.id])
    expect(Object.fromEntries(failed.map(({ id, reason }) => [id, reason]))).toEqual({
      [hidden.id]: expect.stringMatching(/could not read Username|terminal prompts disabled/),
      [tool.id]: expect.stringContaining('nowhere'),
    })
    expect(await readdir(work)).toEqual(['app'])
    expect(await readdir(join(home, 'user/.dock'))).toEqual([])
  })

  it('take the place of nothing that is the user’s', async () => {
    await mkdir(join(work, 'app'))
    await writeFile(join(work, 'app/mine'), 'kept')
    await writeFile(join(work, 'tool'), 'kept')
    const [app, tool] = [wanted('acme/app'), wanted('open/tool')]
    const { failed } = await clone(app, tool)
    expect(failed.map(({ reason }) => reason).toSorted()).toEqual([
      'something else is in the way at work/app',
      'something else is in the way at work/tool',
    ])
    expect(await readdir(join(work, 'app'))).toEqual(['mine'])
  })
})
