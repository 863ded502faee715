/** The command line and Docks: words for states, why a Dock stopped, narrow terminals, names, setup, Snapshots. */
import { startControlPlaneWithHost } from '@dock/testkit'
import { hostFacts } from '@dock/testkit/src/docks/fake-host.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../e2e/support/run-cli.ts'

let server: Awaited<ReturnType<typeof startControlPlaneWithHost>>
let cli: Cli
const name = 'a-name-of-20-letters'
beforeAll(async () => {
  server = await startControlPlaneWithHost({ environment: { DOCK_SSH_PORT: '2222' } })
  const baseUrl = `http://127.0.0.1:${(await server.listen()).port}`
  cli = await createCli({ baseUrl, apiKey: server.admin.apiKey })
  await cli.run(['create', name])
})
afterAll(async () => {
  await cli?.remove()
  await server?.stop()
})

/** Runs a command on a terminal of so many columns. */
const onTerminal = async (columns: number, ...words: string[]): Promise<string[]> => {
  const { stdout } = await cli.bash(
    `NO_COLOR=1 TERM=xterm script -qec 'stty cols ${columns}; dock ${words.join(' ')}' /dev/null`,
  )
  return stdout.split(/\r?\n/)
}

describe('a stopped Dock', () => {
  it('is called by the words of the table, and says who stopped it', async () => {
    const show = async (): Promise<string> => (await cli.run(['show', name])).stdout
    expect(await show()).toMatch(/^state +Running, for /m)
    expect(await show()).not.toMatch(/^(why|last stop) /m)
    expect((await cli.run(['ls'])).stdout).toMatch(/a-name-of-20-letters +Running /)
    await sql`update docks set state = 'idle' where name = ${name}`.execute(server.database.db)
    expect(await show()).toMatch(/^state +Sleeping, for /m)
    await cli.run(['stop', name])
    expect(await show()).toMatch(/^state +Stopped, for /m)
    expect(await show()).toMatch(/^why +.+ stopped it, with the API key ".+"\. \(\d+ s ago\)$/m)
    expect(await cli.json('show', name)).toMatchObject({
      state: 'archived',
      lastStop: { reason: 'requested', by: { kind: 'api_key' } },
    })
    await cli.run(['resume', name])
    expect(await show()).toMatch(/^last stop +.+ stopped it, with the API key/m)
  })

  it('is resumed once: then the command says that it runs already', async () => {
    expect(await cli.run(['resume', name])).toMatchObject({
      code: 6,
      stderr: 'Error: The Dock runs already: there is nothing to resume.\n',
    })
  })
})

describe('a narrow terminal', () => {
  it('shows names whole, and leaves out other columns', async () => {
    const [headings, row] = await onTerminal(60, 'ls')
    expect(row).toContain(name)
    expect(headings).toMatch(/^NAME +STATE +CPUS +MEMORY +DISK$/)
    expect((await onTerminal(200, 'ls'))[0]).toMatch(/ AGE +ID$/)
  })

  it('shows the address of a port, and ids of Snapshots and hosts whole', async () => {
    await cli.run(['port', 'expose', name, '3000'])
    const [{ url }] = await cli.json<[{ url: string }]>('port', 'ls', name)
    expect((await onTerminal(60, 'port', 'ls', name)).join('')).toContain(url)
    const [{ id }] = await cli.json<[{ id: string }]>('host', 'ls')
    expect((await onTerminal(60, 'host', 'ls'))[1]).toContain(id)
    const [snapshot] = await cli.json<[{ id: string }]>('snapshot', 'ls', name)
    expect((await onTerminal(60, 'snapshot', 'ls', name))[1]).toContain(snapshot.id)
  })
})

describe('the runtime of a host', () => {
  it('has its release and its age in `host show`, and a remark in `doctor` once it is old', async () => {
    const { enrolment } = server.controlPlane.docks
    const register = async (releasedAt: Date, address: string): Promise<string> => {
      const release = {
        version: '20240729.0',
        source: 'Debian',
        releasedAt: releasedAt.toISOString().slice(0, 10),
      }
      const joinToken = await enrolment.issueJoinToken()
      const facts = hostFacts({ runtimeRelease: release })
      return (await enrolment.register({ joinToken, facts }, address)).hostId
    }
    const id = await register(new Date('2024-07-29'), '192.0.2.1')
    await register(new Date(), '192.0.2.2')
    const old = /gvisor 20240729\.0 from Debian, \d{3,} d old/
    expect((await cli.run(['host', 'show', id])).stdout).toMatch(old)
    const checks = await cli.json<{ name: string; state: string; detail: string }[]>('doctor')
    const stateOf = (name: string) => checks.find((check) => check.name === `runtime of ${name}`)
    expect(stateOf('192.0.2.1')).toMatchObject({ state: 'remark', detail: expect.stringMatching(old) })
    expect(stateOf('192.0.2.2')).toMatchObject({ state: 'good' })
    const tested = (address: string) => checks.find((check) => check.name === `host ${address}`)
    expect(tested('127.0.0.1')).toMatchObject({
      state: 'good',
      detail: expect.stringMatching(/^boot \d+ ms, exec \d+ ms, thaw \d+ ms$/),
    })
    expect(tested('192.0.2.2')).toMatchObject({ state: 'remark' })
  })
})

describe('names', () => {
  it.each([
    ['bad name!', 'bad-name'],
    ['-x', 'x'],
    ['Grüße', 'grusse'],
  ])('%j is warned of with a better one', async (bad, better) => {
    const { code, stderr } = await cli.run(['create', '--', bad])
    expect([code, stderr]).toEqual([0, expect.stringContaining(`A name that works everywhere: ${better}\n`)])
    expect((await cli.run(['branch', name, '--', `${bad}2`])).stderr).toContain('ssh cannot use the name')
  })

  it('of the usual kind are not warned of', async () => {
    expect((await cli.run(['create', 'web_1.test'])).stderr).not.toContain('Warning')
  })
})

describe('create --runtime', () => {
  it('asks for a host of the runtime, and says which one is missing', async () => {
    expect(await cli.json('create', 'of-gvisor', '--runtime', 'gvisor')).toMatchObject({ runtime: 'gvisor' })
    const { code, stderr } = await cli.run(['create', '--runtime', 'microvm'])
    expect([code, stderr]).toEqual([7, expect.stringContaining('No host of runtime microvm is online')])
    expect((await cli.run(['create', '--runtime', 'runsc'])).code).toBe(2)
  })
})

describe('create --setup', () => {
  it('fails with its own exit code if the setup fails, and keeps the Dock', async () => {
    server.host.setupOutcome = { exitCode: 3, output: 'no such program\n', timedOut: false }
    const { code, stdout, stderr } = await cli.run(['create', 'broken', '--setup', '-'], {
      input: 'exit 3\n',
    })
    expect([code, stdout]).toEqual([8, expect.stringContaining('Created broken')])
    expect(stderr).toMatch(/Error: The setup of broken failed: .+ The Dock is kept\./)
    server.host.setupOutcome = { exitCode: 0, output: '', timedOut: false }
    expect(await cli.json('show', 'broken')).toMatchObject({ state: 'ready', setupStatus: 'failed' })
  })

  it('waits for the end of the setup', async () => {
    const { code, stdout } = await cli.run(['create', 'set-up', '--setup', '-', '--json'], {
      input: 'true\n',
    })
    expect([code, JSON.parse(stdout).setupStatus]).toEqual([0, 'done'])
  })
})

describe('a Snapshot', () => {
  it('is found by its id, the beginning of it, or its Dock', async () => {
    const [{ id }] = await cli.json<[{ id: string }]>('snapshot', 'ls', name)
    for (const text of [id, id.toUpperCase(), id.slice(0, 23), name])
      expect(await cli.json('snapshot', 'cat', text, '/etc/hostname')).toMatchObject({ snapshotId: id })
  })

  it('that does not exist is named as what it is', async () => {
    const { code, stderr } = await cli.run(['snapshot', 'cat', 'abcdef12', '/x'])
    expect([code, stderr]).toEqual([5, 'Error: There is no Dock and no Snapshot "abcdef12".\n'])
  })

  it('has relative paths in the work folder', async () => {
    for (const [path, whole] of [
      ['a/b.txt', '/home/user/work/a/b.txt'],
      ['./a', '/home/user/work/a'],
      ['~/c', '/home/user/c'],
      ['/d/../e', '/e'],
    ] as const)
      expect(await cli.json('snapshot', 'cat', name, path)).toMatchObject({ path: whole })
  })
})

it('lists images, and limits in units', async () => {
  expect((await cli.run(['image', 'ls'])).stdout).toMatch(/^debian-13 +no host has it +default$/m)
  const { stdout } = await cli.run(['org', 'limits'])
  expect(stdout).toMatch(/^memory +[\d.]+ [MG]iB +[\d.]+ [GT]iB$/m)
  expect(stdout).not.toMatch(/MiB \d|memoryMiB|diskGiB/)
  const { limits } = await cli.json<{ limits: object }>('org', 'limits')
  expect(stdout.trim().split('\n')).toHaveLength(Object.keys(limits).length + 1)
})
