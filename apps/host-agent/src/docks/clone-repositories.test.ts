/** Runs the real clone script on folders of this machine, through a git door with git's http-backend behind it. */
import { execFile } from 'node:child_process'
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLogger, newUuid } from '@dock/foundation'
import type { ClonedRepositories, Repository } from '@dock/host-protocol'
import type { ExecResult, RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { serveGit } from '@dock/testkit/src/github/git-http-backend.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openGitDoor } from '../network/git-door/git-door.ts'
import { dockUser } from '../sandboxes/login-shell.ts'
import { cloneRepositories } from './clone-repositories.ts'
import { applyFiles } from './secret-files.ts'

const exec = promisify(execFile)
const logger = createLogger('test')
logger.level = 'silent'
/** A loopback address that only this process uses, because every git door has the same port. */
const gateway = `127.${(process.pid >> 16) & 255}.${(process.pid >> 8) & 255}.${process.pid & 255 || 1}`

let folder: string
let home: string
let work: string
let door: Awaited<ReturnType<typeof openGitDoor>>
let asked: string[]

/** Responds as the control plane does: with a repository, or with an error sentence. */
const behindDoor = createServer((request, response) => {
  const path = new URL(request.url ?? '/', 'http://door').pathname.replace('/github', '')
  asked.push(path)
  if (!path.startsWith('/acme/hidden'))
    return void serveGit(request, response, { folder: join(folder, 'repositories'), path, user: 'ada' })
  const elsewhere = { location: 'http://127.0.0.1:1/elsewhere', 'content-type': 'text/plain' }
  response.writeHead(302, elsewhere).end('acme/hidden needs a sign-in\n')
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
    await cp('/etc', join(folder, 'etc'), { recursive: true, verbatimSymlinks: true })
    await rm(join(folder, 'etc/gitconfig'), { force: true })
    door = await openGitDoor({
      ...{ address: gateway, logger },
      take: (socket) => {
        behindDoor.emit('connection', socket)
        socket.resume()
      },
    })
  })
  afterAll(async () => {
    door?.close()
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
    'mount --bind "$0/../etc" /etc && mount --bind "$0/run" /run && mount --bind "$0" /home && exec "$@"',
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
    ...{ id: newUuid(), name, folder: name.split('/')[1]! },
    ...{ url: `https://github.com/${name}.git`, doorPath: `github/${name}.git` },
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

  it('are cloned completely, at their branch, through the door; existing clones stay', async () => {
    const app = wanted('acme/app', { branch: 'other', hasSetupScript: true })
    const tool = wanted('open/tool')
    expect(await clone(app, tool)).toEqual({ failed: [], cloned: [tool.id], toSetUp: [app.id] })
    expect(await read('app/README')).toBe('acme/app')
    expect(await read('app/.git/HEAD')).toBe('ref: refs/heads/other\n')
    expect(asked).toContain('/acme/app.git/info/refs')
    expect(await read('app/.git/config')).toContain('url = https://github.com/acme/app.git\n')
    await writeFile(join(work, 'app/README'), 'mine')
    expect(await clone(app, tool)).toEqual({ failed: [], cloned: [], toSetUp: [app.id] })
    await rm(join(work, 'app/.git/dock-setup'))
    expect(await clone(app, tool)).toEqual({ failed: [], cloned: [], toSetUp: [] })
    expect(await read('app/README')).toBe('mine')
    // Neither the door's address nor an incomplete clone is on the disk. One line includes the file in memory.
    const found = await exec('grep', ['-rl', gateway, join(home, 'user'), join(folder, 'etc')]).catch(
      () => null,
    )
    expect(found).toBeNull()
    const config = await readFile(join(folder, 'etc/gitconfig'), 'utf8')
    expect(config.match(/path = \/run\/dock\/gitconfig/g)).toHaveLength(1)
    expect(await readdir(join(home, 'user/.dock'))).toEqual([])
  })

  it('are cloned around existing secret files, which git ignores', async () => {
    await applyFiles(driver, sandbox, [
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

  it('fail one by one, with the error of git, and leave nothing incomplete', async () => {
    const [hidden, tool] = [wanted('acme/hidden'), wanted('open/tool', { branch: 'nowhere' })]
    const app = wanted('acme/app')
    const { failed, cloned } = await clone(hidden, tool, app)
    expect(cloned).toEqual([app.id])
    expect(Object.fromEntries(failed.map(({ id, reason }) => [id, reason]))).toEqual({
      [hidden.id]: expect.stringContaining('remote: acme/hidden needs a sign-in'),
      [tool.id]: expect.stringContaining('nowhere'),
    })
    expect(await readdir(work)).toEqual(['app'])
    expect(await readdir(join(home, 'user/.dock'))).toEqual([])
  })

  it('replace no file of the user', async () => {
    await mkdir(join(work, 'app'))
    await writeFile(join(work, 'app/mine'), 'kept')
    await writeFile(join(work, 'tool'), 'kept')
    const [app, tool] = [wanted('acme/app'), wanted('open/tool')]
    const { failed } = await clone(app, tool)
    expect(failed.map(({ reason }) => reason).toSorted()).toEqual([
      'work/app exists and is not this repository',
      'work/tool exists and is not this repository',
    ])
    expect(await readdir(join(work, 'app'))).toEqual(['mine'])
  })
})
