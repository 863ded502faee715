/** Turns of Runs, from triggers to pull requests, on a fake host with real processes. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fakeProcessFolder } from '@dock/testkit/src/docks/fake-process.ts'
import { createTurnsWorld } from '@dock/testkit/src/runs/turns-world.ts'
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, it } from 'vitest'

const turns = await createTurnsWorld()
const {
  world,
  runs,
  repository,
  pulls,
  comments,
  repeated,
  git,
  triggerOf,
  planOf,
  insert,
  begin,
  signal,
  read,
  eventsOf,
  logOf,
} = turns
afterAll(turns.close)
beforeEach(() => world.modules.runner.settled())

const until = (id: string, state: string) =>
  expect.poll(() => turns.stateOf(id), { timeout: 60_000, interval: 50 }).toMatch(new RegExp(`^${state}`))

it('goes from a trigger to a draft pull request, and again for feedback', async () => {
  const trigger = triggerOf()
  const script =
    "python3 -c \"import json,os; p=json.load(open(os.environ['DOCK_PROMPT_FILE'])); print(p['instruction'])\" | tee -a fix"
  const id = await begin(trigger, planOf(script, { testCommand: 'grep -q fix fix' }))
  await until(id, 'pr_opened')
  const made = await read(id)
  expect(made).toMatchObject({
    completionStatus: 'changes_pushed',
    prNumber: pulls[0]!.number,
    promptVersion: '2',
  })
  expect(made.branch).toMatch(/^dock\/issue-\d+-[0-9a-f]{6}$/)
  expect(pulls[0]).toMatchObject({ headBranch: made.branch, baseBranch: 'main', isDraft: true })
  expect(pulls[0]!.title).toContain('The footer')
  expect(await git('show', `${made.branch}:fix`)).toBe('Please fix it.')
  expect(await git('log', '-1', '--format=%P', made.branch)).toBe(made.baseCommit)
  expect(await logOf(id)).toBe('Please fix it.\n')
  const first = [
    'queued',
    'provisioning',
    'machine_ready',
    'cloned',
    'agent_started',
    'tests_passed',
    'pushed',
    'pr_opened',
  ]
  expect(await eventsOf(id)).toEqual(first)
  expect(comments.get(id)).toHaveLength(2)

  // The same trigger and a second one for the issue start nothing.
  for (const again of [trigger, { ...trigger, key: 'comment:other' }])
    expect(await insert(again, planOf('true'))).toBeNull()

  const feedback = triggerOf({
    issueNumber: trigger.issueNumber,
    kind: 'review',
    instruction: 'And the header.',
  })
  const review = { kind: 'feedback' as const, pullRequestNumber: made.prNumber!, trigger: feedback }
  for (let times = 0; times < 2; times++) expect(await signal(review)).toBe(true)
  await until(id, 'pr_opened')
  expect(await git('show', `${made.branch}:fix`)).toBe('Please fix it.\nAnd the header.')
  expect(await eventsOf(id)).toEqual([...first, 'feedback', 'tests_passed', 'pushed', 'pr_updated'])
  expect(pulls.filter(({ headBranch }) => headBranch === made.branch)).toHaveLength(1)

  const merged = { kind: 'merged' as const, repository, pullRequestNumber: made.prNumber! }
  await signal(merged)
  expect((await read(id)).state).toBe('done')
})

it('does everything once if each step runs twice', async () => {
  const plan = planOf('date +%N | tee -a file', { testCommand: 'true' })
  const id = await insert(triggerOf(), plan)
  repeated.add(id!)
  runs.sink.wake()
  await until(id!, 'pr_opened')
  const { branch } = await read(id!)
  expect((await git('show', `${branch}:file`)).split('\n')).toHaveLength(1)
  expect(`${await git('show', `${branch}:file`)}\n`).toBe(await logOf(id!))
  expect(await git('rev-list', '--count', `main..${branch}`)).toBe('1')
  expect(pulls.filter(({ headBranch }) => headBranch === branch)).toHaveLength(1)
  const words = await eventsOf(id!)
  expect(words).toContain('tests_passed')
  expect(new Set(words).size).toBe(words.length)
})

it('has spent its budget if its agent gives up because its models refuse it', async () => {
  const id = await begin(triggerOf(), planOf('until [ -e "$HOME/refused" ]; do sleep 0.05; done; exit 4'))
  await until(id, 'working')
  await sql`update run_turns set cost_micro_usd = 5000000 where run_id = ${id}`.execute(world.db)
  await writeFile(join(fakeProcessFolder(), 'refused'), '')
  await until(id, 'failed.*budget')
  await rm(join(fakeProcessFolder(), 'refused'))
  expect(await read(id)).toMatchObject({ completionStatus: 'budget_exhausted' })
})

it('is done if its pull request is merged, also while it works on feedback', async () => {
  const trigger = triggerOf()
  const id = await begin(trigger, planOf('echo more >>more; [ ! -e "$HOME/marks" ] || sleep 600'))
  await until(id, 'pr_opened')
  await writeFile(join(fakeProcessFolder(), 'marks'), '')
  const { prNumber: pullRequestNumber, issueNumber } = await read(id)
  const feedback = triggerOf({ issueNumber, kind: 'review' })
  await signal({ kind: 'feedback', pullRequestNumber: pullRequestNumber!, trigger: feedback })
  await expect
    .poll(async () => (await eventsOf(id)).at(-1) === 'feedback' && (await read(id)).state)
    .toBe('working')
  await signal({ kind: 'merged', repository, pullRequestNumber: pullRequestNumber! })
  await until(id, 'done')
  expect((await eventsOf(id)).slice(-2)).toEqual(['feedback', 'merged'])
  expect(comments.get(id)!.at(-1)).toContain('The pull request was merged.')
  await rm(join(fakeProcessFolder(), 'marks'))
})

it.each([true, false])(
  'ends if its pull request was ended before its number was known (merged: %s)',
  async (isMerged) => {
    const ensure = turns.github.ensurePullRequest
    turns.github.ensurePullRequest = async (...words) => {
      turns.github.ensurePullRequest = ensure
      return { ...(await ensure(...words)), state: 'closed', isMerged }
    }
    const id = await begin(triggerOf(), planOf('echo ended >ended'))
    await until(id, isMerged ? 'done' : 'stopped')
    expect((await read(id)).prNumber).not.toBeNull()
    expect((await eventsOf(id)).at(-1)).toBe(isMerged ? 'merged' : 'stopped')
  },
)

it('opens the draft although the tests fail, and says so', async () => {
  const id = await begin(triggerOf(), planOf('echo x >broken', { testCommand: 'exit 3' }))
  await until(id, 'pr_opened')
  const { completionStatus, branch } = await read(id)
  expect(completionStatus).toBe('tests_failed')
  expect(pulls.find(({ headBranch }) => headBranch === branch)!.body).toContain('The tests fail')
})

it('is done without a pull request if nothing changed', async () => {
  const before = pulls.length
  const id = await begin(triggerOf(), planOf('echo nothing to do'))
  await until(id, 'done')
  expect(await read(id)).toMatchObject({ completionStatus: 'no_changes', prNumber: null })
  expect(pulls).toHaveLength(before)
})

it('fails if the agent does', async () => {
  const id = await begin(triggerOf(), planOf('exit 4'))
  await until(id, 'failed.*exit code 4')
  expect(await read(id)).toMatchObject({ completionStatus: 'agent_failed' })
  expect(comments.get(id)!.at(-1)).toContain('exit code 4')
})

it('fails if the person who linked the installation has left', async () => {
  const id = await begin(triggerOf(), planOf('true', { createdBy: world.stranger.userId }))
  await until(id, 'failed.*no longer a member')
})
