/** The command line with real Docks. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Dock } from '@dock/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDock, run } from './support/dock.ts'
import { type Cli, createCli } from './support/run-cli.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const name = freshName('cli')
let dock: Dock
let cli: Cli
const work = (...parts: string[]): string => join(cli.folder, 'work', ...parts)

beforeAll(async () => {
  ;[dock, cli] = await Promise.all([createDock(server, { name }), createCli(server.admin)])
})
afterAll(() => cli?.remove())

describe('sign-in with a key', () => {
  it('keeps the key for its service, out of sight', async () => {
    const env = { HOME: work('signed-in'), DOCK_URL: '', DOCK_API_KEY: '' }
    const { baseUrl, apiKey, email } = server.admin
    expect(await cli.run(['whoami'], { env })).toMatchObject({ code: 4 })
    const login = await cli.run(['login', baseUrl, '--key'], { env, input: `${apiKey}\n` })
    expect(login).toMatchObject({ code: 0, stdout: `Signed in to ${baseUrl} as ${email}.\n` })
    expect((await stat(work('signed-in/.config/dock/config.json'))).mode & 0o777).toBe(0o600)
    expect(JSON.parse((await cli.run(['whoami', '--json'], { env })).stdout)).toMatchObject({
      email,
      url: baseUrl,
    })
    expect(await cli.run(['logout'], { env })).toMatchObject({ code: 0 })
    expect(await cli.run(['ls'], { env })).toMatchObject({ code: 4 })
  })

  it('refuses a key that the service does not know', async () => {
    const args = ['login', server.admin.baseUrl, '--key', '--json']
    const { code, stderr } = await cli.run(args, { input: 'dock_unknown_key' })
    expect([code, JSON.parse(stderr).error.code]).toEqual([4, 'unauthorized'])
  })
})

describe('Docks', () => {
  it('are listed and shown by name, and a wrong name by the right one', async () => {
    expect(await cli.json<Dock[]>('ls')).toContainEqual(expect.objectContaining({ id: dock.id }))
    expect((await cli.run(['ls', '-q'])).stdout).toContain(`${dock.id}\n`)
    expect(await cli.json('show', name)).toMatchObject({ id: dock.id, name })
    const wrong = await cli.run(['show', `${name}x`, '--json'])
    expect(wrong).toMatchObject({ code: 5, stdout: '' })
    expect(JSON.parse(wrong.stderr).error).toMatchObject({ code: 'not_found', exitCode: 5 })
    expect(wrong.stderr).toContain(`Did you mean \\"${name}\\"?`)
  })

  it('are created, branched, stopped, resumed and deleted', async () => {
    const made = freshName('made')
    const sizes = ['--cpus', '1', '--memory', '1G', '--disk', '2G']
    await mkdir(work('here/below'), { recursive: true })
    const created = await cli.run(['create', made, ...sizes, '--here', '--json'], { cwd: work('here') })
    expect(JSON.parse(created.stdout)).toMatchObject({ name: made, memoryMiB: 1024, diskGiB: 2 })
    const below = { cwd: work('here/below') }
    expect(JSON.parse((await cli.run(['show', '--json'], below)).stdout)).toMatchObject({ name: made })
    expect(await cli.run(['exec', '--', 'echo', 'a  b'], below)).toMatchObject({ code: 0, stdout: 'a  b\n' })
    expect(await cli.json('branch', made, `${made}-copy`)).toMatchObject({ name: `${made}-copy` })
    expect(await cli.json('stop', made)).toMatchObject({ state: 'archived' })
    const refused = await cli.run(['exec', made, '--', 'true'])
    expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining(`dock resume ${made}`) })
    expect(await cli.json('resume', made)).toMatchObject({ name: made })
    expect(await cli.run(['rm', made])).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    expect(await cli.json('rm', made, `${made}-copy`, '--yes')).toHaveLength(2)
    expect((await cli.run(['ls'])).stdout).not.toContain(made)
  })
})

describe('a command in a Dock', () => {
  it('has its outputs, its exit code, its input and its words', async () => {
    const line = 'cat; echo out; echo err >&2; exit 7'
    expect(await cli.run(['exec', name, line], { input: 'in\n' })).toEqual({
      code: 7,
      stdout: 'in\nout\n',
      stderr: 'err\n',
    })
    expect((await cli.run(['exec', name, '--', 'printf', '%s|', 'a b', '$HOME', "'"])).stdout).toBe(
      "a b|$HOME|'|",
    )
    const json = await cli.run(['exec', '--json', name, line])
    expect(json.code).toBe(7)
    expect(JSON.parse(json.stdout)).toEqual({
      exitCode: 7,
      stdout: 'out\n',
      stderr: 'err\n',
      truncated: false,
    })
    expect(await cli.run(['exec', name, 'kill -9 $$'])).toMatchObject({ code: 137 })
  })

  it('carries 20 MB both ways, byte for byte', async () => {
    await cli.bash('head -c 20000000 /dev/urandom >large')
    const there = await cli.bash(`dock exec ${name} -- tee large <large | cmp - large && echo same`)
    expect(there).toEqual({ code: 0, stdout: 'same\n', stderr: '' })
    const back = await cli.bash(`dock exec -n ${name} -- cat large | cmp - large && echo same; rm large`)
    expect(back).toEqual({ code: 0, stdout: 'same\n', stderr: '' })
    await run(server, dock.id, 'rm large')
  })

  it('does not wait for a daemon that it left', async () => {
    const { code, stdout } = await cli.run(['exec', '-n', name, 'sleep 3131 & echo started'])
    expect([code, stdout]).toEqual([0, 'started\n'])
    await run(server, dock.id, 'pkill -f "sleep 3[1]31"')
  })

  it('ends with Ctrl-C', async () => {
    const child = cli.start(['exec', name, 'echo ready; sleep 3232'])
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    const [code] = await once(child, 'close')
    expect(code).toBe(130)
    expect(await run(server, dock.id, 'pgrep -f "sleep 3[2]32" || echo none')).toBe('none\n')
  })

  it('ends when nobody reads its output', async () => {
    const { stdout } = await cli.bash(`dock exec -n ${name} yes | head -n 1; echo "\${PIPESTATUS[0]}"`)
    expect(stdout).toBe('y\n141\n')
    await expect.poll(() => run(server, dock.id, 'pgrep -x yes || echo none')).toBe('none\n')
  })
})

describe('a copy', () => {
  it('brings folders and files there and back', async () => {
    await mkdir(work('tree/deep'), { recursive: true })
    await writeFile(work('tree/deep/ü a'), 'one')
    await symlink('deep', work('tree/link'))
    expect(await cli.json('cp', 'tree', `${name}:`)).toMatchObject({ dockId: dock.id })
    expect(await run(server, dock.id, 'cat "tree/deep/ü a"; readlink tree/link')).toBe('onedeep\n')
    expect(await cli.run(['cp', `${name}:tree`, 'back'])).toMatchObject({ code: 0 })
    expect(await readFile(work('back/deep/ü a'), 'utf8')).toBe('one')
    expect(await readlink(work('back/link'))).toBe('deep')
    expect(await cli.run(['cp', '-', `${name}:piped`], { input: 'from a pipe' })).toMatchObject({ code: 0 })
    expect(await cli.run(['cp', `${name}:piped`, '-'])).toEqual({
      code: 0,
      stdout: 'from a pipe',
      stderr: '',
    })
    expect(await cli.run(['cp', `${name}:absent`, 'x'])).toMatchObject({ code: 5 })
  })

  it('names what could not be read in a folder of the Dock', async () => {
    await run(server, dock.id, 'mkdir locked && touch locked/a locked/b && chmod 0 locked/b')
    const { code, stderr } = await cli.run(['cp', `${name}:locked`, 'unlocked'])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/could not be read: .*locked\/b/)])
    await run(server, dock.id, 'rm -rf locked')
  })

  it('never writes through a link that an earlier copy left', async () => {
    const outside = work('outside')
    await mkdir(outside)
    await run(server, dock.id, `mkdir evil && ln -s ${outside} evil/x`)
    const first = await cli.run(['cp', `${name}:evil`, 'target'])
    expect(first.stderr).toContain('left out')
    await expect(lstat(work('target/x'))).rejects.toThrow('ENOENT')
    // As if an older version had made it.
    await symlink(outside, work('target/x'))
    await run(
      server,
      dock.id,
      'rm evil/x && mkdir evil/x && echo bad >evil/x/file && mkdir x && echo bad >x/file',
    )
    expect(await cli.run(['cp', `${name}:evil/`, 'target'])).toMatchObject({ code: 1 })
    expect(await cli.run(['cp', `${name}:x`, 'target'])).toMatchObject({ code: 1 })
    expect(await readdir(outside)).toEqual([])
  })
})

describe('a sync', () => {
  it('copies what has changed, deletes if told so, and writes through no link', async () => {
    await mkdir(work('project/src'), { recursive: true })
    await mkdir(work('project/node_modules'), { recursive: true })
    for (const file of ['a', 'src/b', 'node_modules/c']) await writeFile(work('project', file), file)
    const up = (): Promise<{ copied: string[]; deleted: string[] }> =>
      cli.json('sync', 'project', `${name}:project`, '--exclude', 'node_modules', '--delete', '--yes')
    expect((await up()).copied.sort()).toEqual(['a', 'src/b'])
    await writeFile(work('project/a'), 'changed')
    await run(server, dock.id, 'touch project/extra')
    expect(await up()).toEqual({ copied: ['a'], deleted: ['extra'], skipped: [] })
    expect(await cli.json('sync', `${name}:project`, 'synced')).toMatchObject({
      copied: expect.arrayContaining(['a', 'src/b']),
    })
    expect(await readFile(work('synced/a'), 'utf8')).toBe('changed')
    await mkdir(work('elsewhere'))
    await symlink(work('elsewhere'), work('synced/link'))
    await run(server, dock.id, 'mkdir project/link && echo bad >project/link/file')
    expect(await cli.run(['sync', `${name}:project`, 'synced'])).toMatchObject({ code: 1 })
    expect(await readdir(work('elsewhere'))).toEqual([])
  })
})

describe('ssh', () => {
  it('knows the Docks by name after config-ssh: ssh, scp, rsync, git', async () => {
    await cli.bash('ssh-keygen -q -t ed25519 -N "" -f ~/.ssh/id_ed25519')
    expect(await cli.json('ssh-key', 'add', '--name', name)).toMatchObject({ name })
    await cli.bash('printf "Host other\\n  Port 9\\n" >~/.ssh/config')
    expect(await cli.json('config-ssh', '--yes')).toContainEqual({ host: `${name}.dock`, dockId: dock.id })
    // ssh finds its files by the account and not by HOME.
    const { code, stdout, stderr } = await cli.bash(`set -e
      sed -i "s|Include dock_config|Include $HOME/.ssh/dock_config|" ~/.ssh/config
      options="-F $HOME/.ssh/config -i $HOME/.ssh/id_ed25519 -o BatchMode=yes -o LogLevel=ERROR"
      ssh $options ${name}.dock 'echo ssh'; echo file >file; scp -q $options file ${name}.dock:copied
      rsync -e "ssh $options" ${name}.dock:copied back-by-rsync; cat back-by-rsync
      ssh $options ${name}.dock git init -q --bare repo.git
      git init -q repo; cd repo; git -c user.name=A -c user.email=a@b commit -q --allow-empty -m first
      GIT_SSH_COMMAND="ssh $options" git push -q ${name}.dock:repo.git HEAD:refs/heads/main; echo pushed
      cd ..; dock forward ${name} --help | head -1`)
    expect({ code, stdout, stderr }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('ssh\nfile\npushed\n'),
    })
    // The key of the gateway was noted, although nobody had signed in and made the folder.
    const known = await readFile(join(cli.folder, 'home/.config/dock/known_hosts'), 'utf8')
    expect(known).toContain('ssh-ed25519')
    expect(await cli.json('ssh-key', 'rm', name, '--yes')).toMatchObject({ deleted: true })
  })
})

describe('a command', () => {
  it('prints nothing but JSON when it has closed a port', async () => {
    await cli.run(['port', 'expose', name, '3001'])
    expect(await cli.json('port', 'close', name, '3001')).toEqual({ port: 3001, closed: true })
  })

  it('warns before a key is sent over a plain connection', async () => {
    const env = { DOCK_URL: 'http://192.0.2.1:9', DOCK_API_KEY: 'dock_secret_key' }
    const child = cli.start(['ls'], { env })
    const [warning] = (await once(child.stderr, 'data')) as [Buffer]
    child.kill('SIGKILL')
    expect(String(warning)).toContain('not encrypted')
  })
})

it.each([
  ['the window of its terminal closes', 'window'],
  ['it is told to end', 'SIGTERM'],
])('ends a command on a terminal in the Dock when %s', async (_, way) => {
  const [pidFile, seconds] = [work(`pid-${way}`), way === 'window' ? 77711 : 77722]
  const count = () => run(server, dock.id, `ps -eo args | grep -c '^sleep ${seconds}' || true`)
  const line = `echo $$ >${pidFile}; exec ${process.execPath} ${cli.program} exec -t ${name} -- 'sleep ${seconds}; sleep ${seconds}'`
  const screen = spawn('script', ['-qec', line, '/dev/null'], {
    env: cli.env,
    cwd: work(),
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const closed = once(screen, 'close')
  try {
    await expect.poll(count, { timeout: 20_000 }).toBe('1\n')
    if (way === 'window') screen.kill('SIGKILL')
    else process.kill(Number(await readFile(pidFile, 'utf8')), way)
    await expect.poll(count, { timeout: 20_000 }).toBe('0\n')
    await closed
  } finally {
    screen.kill('SIGKILL')
  }
})
