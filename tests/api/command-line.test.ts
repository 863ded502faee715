/** The command line against a service whose Docks are folders of this machine: what it must not lose, and what it reports. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startControlPlaneWithHost } from '@dock/testkit'
import { fakeProcessFolder } from '@dock/testkit/src/docks/fake-process.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../e2e/support/run-cli.ts'
import { makeTenant } from './support/tenant.ts'

let server: Awaited<ReturnType<typeof startControlPlaneWithHost>>
let cli: Cli
let dock: string
const here = (...parts: string[]): string => join(cli.folder, 'work', ...parts)
const there = (): Promise<string> => mkdtemp(join(fakeProcessFolder(), 'there-'))

beforeAll(async () => {
  server = await startControlPlaneWithHost({ environment: { DOCK_SSH_PORT: '2222' } })
  const baseUrl = `http://127.0.0.1:${(await server.listen()).port}`
  const tenant = await makeTenant(server)
  dock = tenant.dockId
  cli = await createCli({ baseUrl, apiKey: tenant.owner.apiKey })
})
afterAll(async () => {
  await cli?.remove()
  await server?.stop()
})

describe('a sync that deletes', () => {
  const sync = (from: string, to: string) => cli.run(['sync', from, to, '--delete', '--yes', '--json'])

  it('deletes nothing if the folder in the Dock is missing', async () => {
    await mkdir(here('kept'))
    await writeFile(here('kept/file'), 'mine')
    const { code, stderr } = await sync(`${dock}:${await there()}/absent`, 'kept')
    expect([code, JSON.parse(stderr).error.code]).toEqual([5, 'not_found'])
    expect(await readFile(here('kept/file'), 'utf8')).toBe('mine')
  })

  it('deletes nothing if the folder in the Dock cannot be listed whole', async () => {
    const folder = await there()
    await writeFile(join(folder, 'there'), 'theirs')
    await mkdir(here('whole'))
    await writeFile(here('whole/file'), 'mine')
    // The tests may run as root, who can read every folder.
    const profile = join(fakeProcessFolder(), '.bash_profile')
    await writeFile(
      profile,
      'find() { command find "$@"; echo "find: \u001b[2J: Permission denied" >&2; return 1; }\n',
    )
    try {
      const { code, stderr } = await sync(`${dock}:${folder}`, 'whole')
      const { error } = JSON.parse(stderr)
      expect([code, error.code, error.message]).toEqual([
        ...[1, 'folder_unreadable', expect.stringContaining('Permission denied')],
      ])
      expect(await sync('whole', `${dock}:${folder}`)).toMatchObject({ code: 1 })
    } finally {
      await rm(profile)
    }
    expect([await readdir(here('whole')), await readdir(folder)]).toEqual([['file'], ['there']])
    expect(await sync(`${dock}:${folder}`, 'whole')).toMatchObject({ code: 0 })
    expect(await readdir(here('whole'))).toEqual(['there'])
  })

  it('knows files from before 1970', async () => {
    const folder = await there()
    await writeFile(join(folder, 'old'), 'old')
    await utimes(join(folder, 'old'), -1000.5, -1000.5)
    await mkdir(here('old'))
    await writeFile(here('old/old'), 'old')
    expect(await sync(`${dock}:${folder}`, 'old')).toMatchObject({ code: 0 })
    expect(await readFile(here('old/old'), 'utf8')).toBe('old')
  })
})

describe('a reader that leaves', () => {
  it.each([
    ['a response of the API', () => `dock api '/v1/docks?all=true'`],
    ['the output of a process', () => `dock exec -n ${dock} -- true; dock logs ${dock}`],
  ])('is no failure: %s', async (_, line) => {
    const program = await cli.bash(`${line()} | true; echo "\${PIPESTATUS[0]}"`)
    expect(program.stderr).toBe('')
    expect(['0\n', '141\n']).toContain(program.stdout)
  })
})

it('writes output no faster than it is read', async () => {
  // More than all buffers on the way together.
  const bytes = 3_000_000
  await cli.run(['exec', '-n', dock, `head -c ${bytes} /dev/zero | tr '\\0' 'ü'`])
  const { stdout } = await cli.bash(`dock logs ${dock} | { sleep 1; wc -c; }`)
  expect(Number(stdout)).toBeGreaterThanOrEqual(bytes)
})

it('deletes each Dock once, and says which when another one fails', async () => {
  const make = async (name: string) =>
    (JSON.parse((await cli.run(['create', name, '--json'])).stdout) as { id: string }).id
  const [one, two] = [await make('one'), await make('two')]
  expect(await cli.json('rm', one, 'one', '--yes')).toEqual([{ id: one, name: 'one', deleted: true }])
  // A Dock from which a Template was made cannot be deleted.
  expect(await cli.run(['template', 'create', dock, 'kept'])).toMatchObject({ code: 0 })
  const { code, stdout } = await cli.run(['rm', 'two', dock, '--yes'])
  expect([code, stdout]).toEqual([6, 'Deleted two.\n'])
  expect(two).not.toBe(one)
})

it('makes no Dock if it could not write .dock', async () => {
  await mkdir(here('taken'))
  await writeFile(here('taken/.dock'), 'web')
  const before = await cli.json<unknown[]>('ls')
  const { code, stderr } = await cli.run(['create', '--here'], { cwd: here('taken') })
  expect([code, stderr]).toEqual([1, expect.stringContaining('is there already')])
  expect(await cli.json('ls')).toHaveLength(before.length)
})

it('asks for a correction if .dock is broken', async () => {
  await mkdir(here('broken'))
  await writeFile(here('broken/.dock'), 'one\ntwo\n')
  const { code, stderr } = await cli.run(['exec', '--json', '--', 'true'], { cwd: here('broken') })
  expect([code, JSON.parse(stderr).error.code]).toEqual([2, 'dock_file'])
})

it('asks for the deletion in the words that were typed', async () => {
  await cli.run(['create', 'my web'])
  const { code, stderr } = await cli.run(['rm', 'my web', '--no-input'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('Delete my web with all Snapshots?')])
})

it('runs the command of ssh with --json too', async () => {
  await writeFile(here('ssh'), '#!/bin/sh\nexit 5\n', { mode: 0o755 })
  const env = { PATH: `${here()}:${cli.env.PATH}` }
  const { code, stdout } = await cli.run(['--json', 'ssh', dock, '--', 'exit', '5'], { env })
  expect([code, stdout]).toEqual([5, ''])
})

it('keeps a configuration of ssh that it cannot read', async () => {
  await mkdir(join(cli.folder, 'home/.ssh/config'))
  const { code, stderr } = await cli.run(['config-ssh', '--yes'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be read')])
})

it('keeps bytes of a configuration of ssh that are no text', async () => {
  const file = join(cli.folder, 'home/.ssh/config')
  await rm(file, { recursive: true })
  const own = Buffer.concat([Buffer.from('# '), Buffer.from([0xe4, 0xff]), Buffer.from('\nHost x\n')])
  await writeFile(file, own)
  expect(await cli.run(['config-ssh', '--yes'])).toMatchObject({ code: 0 })
  expect((await readFile(file)).subarray(-own.length)).toEqual(own)
})

it('takes a long secret from a pipe', async () => {
  const value = 'ü'.repeat(20_000)
  await cli.run(['env', 'create', 'long'])
  expect(await cli.run(['env', 'set', 'long', 'CERT'], { input: `${value}\n` })).toMatchObject({ code: 0 })
  const { code, stderr } = await cli.run(['env', 'set', 'long', 'CERT'], { input: value.repeat(4) })
  expect([code, stderr]).toEqual([1, expect.stringContaining('longer than 64 KiB')])
})

it('warns if others can read the key', async () => {
  const env = { HOME: here('profile'), DOCK_URL: '', DOCK_API_KEY: '' }
  const login = ['login', cli.env.DOCK_URL!, '--key']
  expect(await cli.run(login, { env, input: cli.env.DOCK_API_KEY! })).toMatchObject({ code: 0 })
  await chmod(here('profile/.config/dock/config.json'), 0o644)
  expect(await cli.run(['whoami'], { env })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('chmod 600'),
  })
})
