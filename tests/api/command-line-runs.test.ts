/** `dock run` against a control plane that uses the stand-in of GitHub. There is no host, so Runs wait for a machine. */
import {
  connectWebhooks,
  type Github,
  linkAtGithub,
  startGithub,
  startTestControlPlane,
  type TestControlPlane,
} from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Cli, createCli } from '../e2e/support/run-cli.ts'

type Run = { id: string; state: string; repo: string; issueNumber: number; cost: { turns: number } }

let github: Github
let server: TestControlPlane
let cli: Cli

beforeAll(async () => {
  github = await startGithub()
  server = await startTestControlPlane({ environment: github.settings })
  connectWebhooks(server, github)
  const baseUrl = `http://127.0.0.1:${(await server.listen()).port}`
  const repository = github.world.addRepository('acme/app', { ada: 'admin' })
  github.world.install(repository)
  await linkAtGithub(server, github, 'ada', repository)
  for (const title of ['first', 'second']) github.world.addIssue(repository, 'ada', title, '')
  cli = await createCli({ baseUrl, apiKey: server.admin.apiKey })
})
afterAll(async () => {
  await cli?.remove()
  await server?.stop()
  await github?.close()
})

it('starts a Run, lists it, shows it, and stops it', async () => {
  expect(await cli.run(['run', 'ls'])).toEqual({
    code: 0,
    stdout: '',
    stderr: 'There is no Run. Start one: dock run start OWNER/NAME ISSUE\n',
  })
  const { code, stdout } = await cli.run(['run', 'start', 'acme/app', '#1', '--instruction', 'Fix it.', '-q'])
  expect(code).toBe(0)
  const id = stdout.trim()
  expect(await cli.run(['run', 'start', 'acme/app', '1'])).toMatchObject({ code: 6 })
  const other = await cli.json<Run>('run', 'start', 'acme/app', '2')
  expect((await cli.json<Run[]>('run', 'ls')).map((run) => run.id)).toEqual([other.id, id])
  expect((await cli.run(['run', 'ls', '--limit', '1', '-q'])).stdout).toBe(`${other.id}\n`)
  expect(await cli.json('run', 'ls', '--state', 'failed')).toEqual([])
  expect(await cli.json('run', 'ls', '--repo', 'acme/other')).toEqual([])
  expect(await cli.json<Run>('run', 'show', 'acme/app#1')).toMatchObject({ id, cost: { turns: 1 } })
  expect((await cli.run(['run', 'show', id.slice(0, 13)])).code).toBe(
    id.slice(0, 13) === other.id.slice(0, 13) ? 2 : 0,
  )
  expect((await cli.run(['run', 'promote', id])).code).toBe(6)
  expect((await cli.run(['run', 'stop', id])).stderr).toBe('Stopped acme/app#1. Its state is stopped.\n')
  const shown = await cli.run(['run', 'show', id])
  expect(shown.stdout).toMatch(/state +stopped\n/)
  expect(shown.stdout).toMatch(/Z {2}queued\n.*Z {2}stopped\n$/)
})

it('shows the log as text that the terminal does not obey, and follows it to its end', async () => {
  const { id } = await cli.json<Run>('run', 'show', 'acme/app#2')
  const { db } = server.database
  const write = (at: number, text: string) =>
    sql`with turn as (update run_turns set log_bytes = ${at + text.length} where run_id = ${id} returning id)
      insert into run_logs (turn_id, at_byte, text) select id, ${at}::bigint, ${text} from turn`.execute(db)
  const begun = 'one\u001b[2J\ntw'
  await write(0, begun)
  const follower = cli.run(['run', 'logs', 'acme/app#2', '--follow'])
  expect((await cli.run(['run', 'logs', id])).stdout).toBe('one\\x1b[2J\ntw\n')
  await write(begun.length, 'o\nthree')
  await cli.run(['run', 'stop', id])
  expect(await follower).toEqual({ code: 0, stdout: 'one\\x1b[2J\ntwo\nthree\n', stderr: '' })
  expect(await cli.json('run', 'logs', id, '--turn', '7')).toEqual({ runId: id, text: '' })
})

it('says what is wrong by its exit code', async () => {
  for (const [code, ...words] of [
    [5, 'show', '01900000-0000-7000-8000-000000000000'],
    [5, 'show', 'acme/app#99'],
    [5, 'start', 'acme/other', '1'],
    [5, 'start', 'acme/app', '99'],
    [2, 'start', 'acme/app', 'first'],
    [2, 'ls', '--state', 'broken'],
  ] as const)
    expect([words, (await cli.run(['run', ...words])).code]).toEqual([words, code])
})

it('completes Runs by their issue', async () => {
  expect((await cli.run(['__complete', '--', 'run', 'show', ''])).stdout.split('\n').toSorted()).toEqual([
    ...['', 'acme/app#1', 'acme/app#2'],
  ])
})
