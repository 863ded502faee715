/**
 * Runs in real Docks, against a GitHub in a network namespace of its own: git's http-backend, and the REST API as far as
 * Runs need it.
 */
import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Run } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { certificatePaths, makeCertificate } from '@dock/testkit/src/make-certificate.ts'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exec } from '../support/dock.ts'
import { createOutside, type Outside } from '../support/outside.ts'
import { freePort, newDataDir, removeDataDir, type Server, startServer } from '../support/server.ts'

const run = promisify(execFile)
const address = '198.51.100.89'
const port = 8089
const repo = 'acme/app'
/** Not even the server's own key may be in the machine. */
const appKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
/** Patterns that do not find themselves in a command line. */
const canaries = ['canar[y]-installation-token', 'BEGIN PRIVAT[E] KEY', 'secre[t]-of-the-webhooks']

let folder: string
let tls: string
let outside: Outside
let server: Server
let database: pg.Client
const installationId = newUuid()

const git = async (...words: string[]): Promise<string> =>
  (await run('git', ['-c', 'safe.directory=*', '-C', join(folder, `${repo}.git`), ...words])).stdout.trim()
const githubState = async () =>
  JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')) as {
    pulls: { number: number; head: string; base: string; title: string; draft: boolean }[]
    comments: string[]
    checks: object[]
  }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-github-'))
  tls = await mkdtemp(join(tmpdir(), 'dock-github-tls-'))
  for (const each of [folder, tls]) await chmod(each, 0o755)
  const { authority } = await makeCertificate(tls, address)
  const work = await mkdtemp(join(tmpdir(), 'dock-github-work-'))
  await mkdir(join(folder, 'acme'))
  await run('git', ['-C', work, 'init', '-q', '-b', 'main'])
  await writeFile(join(work, 'README'), 'one\n')
  await run('git', ['-C', work, 'add', '.'])
  await run('git', ['-C', work, '-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-qm', 'first'])
  for (const name of [repo, 'acme/other'])
    await run('git', ['clone', '-q', '--bare', work, join(folder, `${name}.git`)])
  await rm(work, { recursive: true })
  outside = await createOutside(89, [address])
  const { key, certificate } = certificatePaths(tls)
  const program = new URL('../support/github-program.ts', import.meta.url).pathname
  await outside.start(process.execPath, program, address, String(port), folder, key, certificate)
  server = await startServer(await newDataDir(), await freePort(), {
    ...{ GITHUB_URL: `https://${address}:${port}`, NODE_EXTRA_CA_CERTS: authority },
    ...{ GITHUB_APP_ID: '3', GITHUB_APP_SLUG: 'dock', GITHUB_APP_WEBHOOK_SECRET: 'secret-of-the-webhooks' },
    GITHUB_APP_PRIVATE_KEY: appKey
      .export({ type: 'pkcs8', format: 'pem' })
      .toString()
      .replaceAll('\n', '\\n'),
  })
  database = new pg.Client({ host: `${server.dataDir}/control/run`, user: 'dock', database: 'postgres' })
  await database.connect()
  await link()
})
afterAll(async () => {
  await database?.end()
  await server?.interrupt()
  if (server) await removeDataDir(server.dataDir)
  await outside?.remove()
  for (const each of [folder, tls]) await rm(each, { recursive: true, force: true })
})

/** Links the repository, as the linking in the dashboard does. */
const link = async (): Promise<void> => {
  const { organizationId, workspaceId } = server.admin
  const { rows } = await database.query<{ id: string }>('select id from users limit 1')
  await database.query(
    `insert into github_installations (id, provider_installation_id, organization_id, workspace_id, created_by, agent,
      created_at, updated_at) values ($1, 11, $2, $3, $4, 'command', now(), now())`,
    [installationId, organizationId, workspaceId, rows[0]!.id],
  )
  await database.query(
    `insert into github_repositories (repository_id, installation_id, full_name, default_branch, linked_at)
      values (77, $1, $2, 'main', now())`,
    [installationId, repo],
  )
}
const configure = async (command: string): Promise<void> => {
  await database.query(
    `insert into github_installation_settings (installation_id, execution_target, budget_cents, timeout_seconds,
      command_template, allow_workflow_files) values ($1, 'dock', 500, 600, $2, false)
      on conflict (installation_id) do update set command_template = $2`,
    [installationId, command],
  )
}

let issueNumber = 0
const start = async (command: string): Promise<Run> => {
  await configure(command)
  issueNumber += 1
  const { workspaceId } = server.admin
  return server.client.call('startRun', {
    body: { workspaceId, repo, issueNumber, instruction: 'Please fix it.' },
  })
}
const read = (id: string): Promise<Run> => server.client.call('readRun', { params: { id } })
const until = (id: string, state: string) =>
  expect
    .poll(
      async () => {
        const found = await read(id)
        return found.failureReason === null ? found.state : `${found.state}: ${found.failureReason}`
      },
      { timeout: 120_000, interval: 100 },
    )
    .toBe(state)
const logOf = async (id: string): Promise<string> =>
  (await server.client.call('readRunLog', { params: { id }, query: {} })).text

it('goes from a start to a draft pull request, with no token in the machine', async () => {
  // The agent searches its whole machine for what it must not have, and tries every push that it may not do.
  const script = `
git -C "$HOME/work/app" config --list --show-origin
search() { grep -rlaE '${canaries.join('|')}' /proc/[0-9]*/environ /proc/[0-9]*/cmdline /etc /home /run /tmp 2>/dev/null | grep -v run-prompt | grep -v "/proc/$$/"; }
search | sed 's/^/FOUND /'
echo two >>README
git add README
git commit -qm 'Change the README'
for refspec in HEAD:main HEAD:refs/tags/v1 HEAD:other :main; do git push origin "$refspec"; done
git push "$(git ls-remote --get-url origin | sed s/app/other/)" HEAD:x
git push "https://${address}:${port}/acme/other.git" HEAD:x
true`
  const { id } = await start(script)
  await until(id, 'pr_opened')
  const made = await read(id)
  const log = await logOf(id)
  expect(log).not.toContain('FOUND')
  for (const refused of ['HEAD -> main', 'HEAD -> v1', 'HEAD -> other', 'main'])
    expect(log).toMatch(new RegExp(`remote rejected\\].*${refused.replace('->', '->')}.*\\(this Dock may`))
  expect(log).toContain('is not among the repositories of this Dock')
  expect((await git('for-each-ref', '--format=%(refname)')).split('\n')).toEqual([
    ...[`refs/heads/${made.branch}`, 'refs/heads/main'].toSorted(),
  ])
  expect(await git('log', '-1', '--format=%s', made.branch!)).toBe('Change the README')
  expect(await git('show', `${made.branch}:README`)).toBe('one\ntwo')
  const { pulls, comments, checks } = await githubState()
  expect(pulls).toEqual([
    expect.objectContaining({ number: made.prNumber, head: made.branch, base: 'main', draft: true }),
  ])
  expect(pulls[0]!.title).toContain('The footer is wrong')
  expect(comments).toEqual([expect.stringContaining('Dock opened a pull request')])
  expect(checks).toHaveLength(1)
  expect(made.events.map(({ t }) => t)).toEqual([
    ...['queued', 'provisioning', 'machine_ready', 'cloned', 'agent_started', 'pushed', 'pr_opened'],
  ])

  // The turn is over: its Dock is anybody's again, and its door is closed.
  expect((await exec(server, made.dockId!, 'echo open')).stdout).toBe('open\n')
  const late = await exec(
    server,
    made.dockId!,
    `cd ~/work/app && date >late && git add . && git commit -qm late && git push origin HEAD`,
  )
  expect(late.exitCode).not.toBe(0)
})

it('stops: the tree is dead, and nothing is pushed', async () => {
  const { id } = await start(
    'echo x >file; git add . && git commit -qm x; (setsid sleep 7777 &) ; echo begun; sleep 7778; git push origin HEAD',
  )
  await expect.poll(() => logOf(id), { timeout: 120_000 }).toContain('begun')
  const { dockId, branch } = await read(id)
  await expect(exec(server, dockId!, 'true')).rejects.toMatchObject({ code: 'exec_unavailable' })
  await server.client.call('stopRun', { params: { id } })
  await until(id, 'stopped')
  const left = await exec(server, dockId!, 'pgrep -x sleep || echo none')
  expect(left.stdout.trim()).toBe('none')
  expect(await git('for-each-ref', '--format=%(refname)', `refs/heads/${branch}`)).toBe('')
})

/** Returns the node process of the server's control plane. */
const controlPlane = async (): Promise<number> => {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const line = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')
    if (!line.includes('apps/control-plane/src/main.ts')) continue
    const environment = await readFile(`/proc/${entry}/environ`, 'utf8').catch(() => '')
    if (environment.includes(`=${server.dataDir}`)) return Number(entry)
  }
  throw new Error('no control plane runs')
}

it('goes on after kills of the control plane: one branch, one pull request, one comment', async () => {
  const before = await githubState()
  const { id } = await start('for i in 1 2 3 4 5 6; do echo $i | tee -a counted; sleep 1; done')
  const reached = (type: string) =>
    expect
      .poll(
        async () => {
          const { rows } = await database.query<{ type: string }>(
            `select type from run_events where run_id = $1
              union all select failure_reason from runs where id = $1 and failure_reason is not null`,
            [id],
          )
          return rows.map((row) => row.type)
        },
        { timeout: 120_000, interval: 20 },
      )
      .toContain(type)
  for (const event of ['provisioning', 'cloned', 'agent_started']) {
    await reached(event)
    process.kill(await controlPlane(), 'SIGKILL')
    await expect
      .poll(
        () =>
          read(id).then(
            () => 'up',
            () => 'down',
          ),
        { timeout: 60_000 },
      )
      .toBe('up')
  }
  await until(id, 'pr_opened')
  const { branch, events } = await read(id)
  expect(await git('show', `${branch}:counted`)).toBe('1\n2\n3\n4\n5\n6')
  expect(await logOf(id)).toBe('1\n2\n3\n4\n5\n6\n')
  expect(new Set(events.map(({ t }) => t)).size).toBe(events.length)
  const after = await githubState()
  expect(after.pulls.filter(({ head }) => head === branch)).toHaveLength(1)
  expect(after.comments.length).toBe(before.comments.length + 1)
})
