/** Runs in real Docks: from a webhook of the stand-in of GitHub to a pull request. script/prove runs kills and counts. */
import type { Run } from '@dock/contract'
import type { GithubRepository } from '@dock/testkit/src/github/github-world.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exec } from '../support/dock.ts'
import { type RunsWorld, startRunsWorld } from '../support/runs-world.ts'

let world: RunsWorld
let repository: GithubRepository
let installationId: string

beforeAll(async () => {
  world = await startRunsWorld()
  const linked = await world.link(['acme/app', 'acme/other'])
  installationId = linked.installationId
  repository = linked.repositories[0]!
})
afterAll(() => world?.close())

const git = (...words: string[]) => world.github.git.run(repository, ...words)
const branches = async () => (await git('for-each-ref', '--format=%(refname:short)')).split('\n').toSorted()
const patient = { timeout: 120_000, interval: 100 }
const runOf = async (issueNumber: number): Promise<Run | undefined> =>
  (await world.listRuns()).find((run) => run.issueNumber === issueNumber)
const until = (issueNumber: number, state: string) =>
  expect
    .poll(async () => {
      const run = await runOf(issueNumber)
      return run?.failureReason ? `${run.state}: ${run.failureReason}` : run?.state
    }, patient)
    .toBe(state)

/**
 * What must not be in the machine: tokens of GitHub, and the App's key and secrets, which only the server has. The patterns
 * do not find themselves in a command line.
 */
const forbidden = ['gh[s]_[0-9a-f]{36}', 'BEGIN RSA PRIVAT[E] KEY', '[s]ecret-of-dock-test'].join('|')

it('goes from a mention to a draft pull request, and on for a review', async () => {
  const { github, mention } = world
  // The agent searches its machine for what it must not have, tries pushes that it may not do, and keeps a session.
  const agent = `
if [ ! -e "$HOME/session" ]; then
  grep -rlaE '${forbidden}' /proc/[0-9]*/environ /proc/[0-9]*/cmdline /etc /home /run /tmp 2>/dev/null |
    grep -v "/proc/$$/" | sed 's/^/FOUND /'
  echo two >>README && git commit -qam 'Change the README'
  for refspec in HEAD:main HEAD:refs/tags/v1 HEAD:other :main; do git push origin "$refspec"; done
  git push "$(git ls-remote --get-url origin | sed s/app/other/)" HEAD:x
fi
jq -r .instruction "$DOCK_PROMPT_FILE" >>"$HOME/session"
cp "$HOME/session" session`
  await world.configure(installationId, agent, { timeoutSeconds: 300 })
  github.webhooks.isHeld = true
  const { issue, delivery: opened } = await github.openIssue(repository, 'ada', {
    ...{ title: 'The footer is wrong', body: 'See the footer.' },
  })
  const { delivery: asked } = await github.comment(
    repository,
    issue.number,
    'ada',
    `${mention} Please fix it.`,
  )
  const { webhooks } = github
  // The mention comes first, three times, and once under a new id.
  const sent = [asked, asked, asked].map((each) => webhooks.deliver(each))
  sent.push(webhooks.deliver(asked, 'a-new-id'), webhooks.deliver(opened))
  expect(await Promise.all(sent)).toEqual([202, 202, 202, 202, 202])
  await until(issue.number, 'pr_opened')
  expect(await world.listRuns()).toHaveLength(1)
  const made = (await runOf(issue.number))!
  const log = await world.readLog(made.id)
  expect(log).not.toContain('FOUND')
  for (const refused of ['HEAD -> main', 'HEAD -> v1', 'HEAD -> other', 'main'])
    expect(log).toMatch(new RegExp(`remote rejected\\].*${refused}.*\\(this Dock may`))
  expect(log).toContain('is not among the repositories of this Dock')
  expect(await branches()).toEqual([made.branch, 'main'].toSorted())
  expect(await git('log', '--format=%s', `main..${made.branch}`)).toBe(
    'The footer is wrong (#1)\nChange the README',
  )
  expect(await git('show', `${made.branch}:README`)).toBe('one\ntwo')
  expect(await git('show', `${made.branch}:session`)).toBe(`${mention} Please fix it.`)
  const pulls = () => repository.issues.filter(({ pull }) => pull !== null)
  expect(pulls()).toEqual([
    expect.objectContaining({
      ...{ number: made.prNumber, title: 'The footer is wrong (#1)' },
      body: expect.stringContaining('A draft for #1'),
      pull: expect.objectContaining({ head: made.branch, base: 'main', isDraft: true }),
    }),
  ])
  const comments = () => repository.comments.filter(({ user }) => user.type === 'Bot')
  expect(comments()).toEqual([
    expect.objectContaining({
      issueNumber: issue.number,
      body: expect.stringContaining(`Dock opened a pull request. Pull request: #${made.prNumber}`),
    }),
  ])
  expect(repository.checks).toEqual([expect.objectContaining({ conclusion: 'success' })])
  const first = ['queued', 'provisioning', 'machine_ready', 'cloned', 'agent_started', 'pushed', 'pr_opened']
  expect(made.events.map(({ t }) => t)).toEqual(first)

  // The turn is over: its Dock is anybody's again, and its door is closed.
  const late = await exec(
    world.server,
    made.dockId!,
    'cd ~/work/app && date >late && git add . && git commit -qm late && git push origin HEAD || echo refused',
  )
  expect(late.stdout).toContain('refused')

  const { delivery } = await github.review(repository, made.prNumber!, 'ada', {
    ...{ body: 'And the header.', state: 'changes_requested' as const },
    remarks: [{ path: 'README', line: 1, body: 'Not this line.' }],
  })
  const again = [delivery, delivery, asked].map((each) => webhooks.deliver(each))
  expect(await Promise.all(again)).toEqual([202, 202, 202])
  await expect
    .poll(async () => (await runOf(issue.number))?.events.map(({ t }) => t), patient)
    .toEqual([...first, 'feedback', 'pushed', 'pr_updated'])
  const updated = (await runOf(issue.number))!
  expect(updated).toMatchObject({ ...made, updatedAt: expect.anything(), events: expect.anything() })
  expect(await git('show', `${made.branch}:session`)).toBe(
    `${mention} Please fix it.\nAnd the header.\n\nREADME:1: Not this line.`,
  )
  expect([pulls(), comments(), repository.checks].map(({ length }) => length)).toEqual([1, 1, 2])
  expect(comments()[0]!.body).toContain('Dock opened a pull request')
})

it('stops: the tree is dead, and nothing is pushed', async () => {
  const { github, mention, server } = world
  await world.configure(
    installationId,
    'echo x >file; git add . && git commit -qm x; (setsid sleep 7777 &) ; (sudo setsid sleep 7779 &) ; echo begun; sleep 7778; git push origin HEAD',
  )
  github.webhooks.isHeld = false
  const { issue } = await github.openIssue(repository, 'ada', { body: `${mention} Please.` })
  await expect
    .poll(async () => {
      const run = await runOf(issue.number)
      return run ? world.readLog(run.id) : ''
    }, patient)
    .toContain('begun')
  const { dockId, branch } = (await runOf(issue.number))!
  await expect(exec(server, dockId!, 'true')).rejects.toMatchObject({ code: 'exec_unavailable' })
  await github.comment(repository, issue.number, 'ada', `${mention} stop`)
  await until(issue.number, 'stopped')
  const left = await exec(server, dockId!, 'pgrep -x sleep || echo none')
  expect(left.stdout.trim()).toBe('none')
  expect(await branches()).not.toContain(branch)
})

it('is done without a pull request if nothing changed', async () => {
  const { github, mention } = world
  await world.configure(installationId, 'true')
  const { issue } = await github.openIssue(repository, 'ada', { body: `${mention} Just look.` })
  await until(issue.number, 'done')
  expect(await runOf(issue.number)).toMatchObject({ completionStatus: 'no_changes', prNumber: null })
})

it('works in a sandbox without a Dock on the target fast, and becomes one Dock by many promotions', async () => {
  const { github, mention, server } = world
  const { client } = server
  // The agent tells its process id before and after the promotion, whose end the test tells by a branch.
  const waiting = 'until git ls-remote --exit-code origin refs/heads/go >/dev/null; do sleep 0.2; done'
  await world.configure(installationId, `echo "process $$"; ${waiting}; echo "process $$"; echo fast >fast`, {
    executionTarget: 'fast',
  })
  const { issue } = await github.openIssue(repository, 'ada', { body: `${mention} Be quick.` })
  await expect
    .poll(async () => {
      const run = await runOf(issue.number)
      return run ? world.readLog(run.id) : ''
    }, patient)
    .toContain('process')
  const { id, dockId } = (await runOf(issue.number))!
  expect(dockId).toBeNull()
  const [summary] = await client.call('listHosts', {})
  const shown = () => client.call('readHost', { params: { id: summary!.id } })
  const { runs, docks } = await shown()
  expect(runs).toEqual([{ dockId: expect.any(String), state: 'running', kind: 'fast' }])
  const machine = runs[0]!.dockId
  expect(docks.map((each) => each.id)).not.toContain(machine)
  const readDock = () => client.call('readDock', { params: { id: machine } })
  await expect(readDock()).rejects.toMatchObject({ code: 'dock_not_found' })

  const promote = () => client.call('promoteRun', { params: { id }, query: {} })
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, promote))
  const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []))
  expect(refused).toEqual(Array.from({ length: 19 }, () => 'run_not_promotable'))
  expect(await runOf(issue.number)).toMatchObject({ dockId: machine, executionTarget: 'dock' })
  expect(await readDock()).toMatchObject({ id: machine, state: expect.stringMatching(/ready|running/) })
  expect((await shown()).runs).toEqual([])
  await expect(exec(server, machine, 'true')).rejects.toMatchObject({ code: 'exec_unavailable' })
  await git('branch', 'go', 'main')
  await until(issue.number, 'pr_opened')
  const [first, second] = (await world.readLog(id)).trim().split('\n')
  expect(second).toBe(first)
  expect((await exec(server, machine, 'cat ~/work/app/fast')).stdout).toBe('fast\n')
  await world.configure(installationId, 'true', { executionTarget: 'dock' })
})
