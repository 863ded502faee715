/** Who may start a Run, by what. */
import {
  connectWebhooks,
  type Github,
  linkAtGithub,
  outcomeOf,
  type RecordedRuns,
  recordRuns,
  startGithub,
  startTestControlPlane,
  type TestControlPlane,
} from '@dock/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

let github: Github
let server: TestControlPlane
let runs: RecordedRuns
let repository: ReturnType<Github['world']['addRepository']>
let fork: typeof repository
let installation: string

const roles = ['admin', 'maintain', 'write', 'triage', 'read'] as const
const people = [...roles, 'none', 'bot', 'self'] as const
type Person = (typeof people)[number]
const mayStart = (person: Person): boolean => ['admin', 'maintain', 'write'].includes(person)
const loginOf = (person: Person): string =>
  person === 'bot' ? 'helper[bot]' : person === 'self' ? `${github.world.app.slug}[bot]` : `the-${person}`

beforeAll(async () => {
  github = await startGithub()
  runs = recordRuns()
  server = await startTestControlPlane({ environment: github.settings, runs: runs.sink })
  connectWebhooks(server, github)
  repository = github.world.addRepository('acme/api', {
    ...Object.fromEntries(roles.map((role) => [loginOf(role), role])),
    // A bot that may write is still a bot.
    'helper[bot]': 'write',
  })
  github.world.addPerson('the-none')
  github.world.people.get('helper[bot]')!.type = 'Bot'
  fork = github.world.addRepository('the-none/api')
  github.world.install(repository)
  installation = await linkAtGithub(server, github, 'the-admin', repository)
  const settings = `/v1/github/installations/${installation}/settings?workspaceId=${server.admin.workspaceId}`
  await server.call('PATCH', settings, { label: 'Dock' })
})
afterAll(async () => {
  await server.stop()
  await github.close()
})
beforeEach(async () => {
  runs.triggers.length = 0
  runs.signals.length = 0
  runs.pulls.clear()
  // The limit has tests of its own.
  await server.database.db.deleteFrom('github_triggers').execute()
})

const openIssue = async () => (await github.openIssue(repository, 'the-read', { body: 'It fails.' })).issue

/** Does one kind of thing as a person. Returns the webhook. */
const deeds = {
  mention: async (login: string) =>
    (await github.comment(repository, (await openIssue()).number, login, '@dock-test fix it')).delivery,
  quote: async (login: string) =>
    (await github.comment(repository, (await openIssue()).number, login, '> @dock-test fix it\n\nNo.'))
      .delivery,
  code: async (login: string) =>
    (await github.comment(repository, (await openIssue()).number, login, 'Write `@dock-test fix it`'))
      .delivery,
  edit: async (login: string) => {
    const { comment } = await github.comment(repository, (await openIssue()).number, login, 'Hm.')
    return github.editComment(repository, comment, login, '@dock-test fix it')
  },
  label: async (login: string) => github.label(repository, (await openIssue()).number, login, 'dock'),
  review: async (login: string) => {
    const { issue } = await github.openPull(repository, 'dock-test[bot]', { head: 'dock/issue-1-abcdef' })
    runs.pulls.add(issue.number)
    const remarks = [{ path: 'a.ts', line: 3, body: 'Rename this.' }]
    return (await github.review(repository, issue.number, login, { body: 'Please change', remarks })).delivery
  },
  fork: async (login: string) => {
    const { issue } = await github.openPull(repository, 'the-none', {
      head: 'dock/issue-1-abcdef',
      from: fork,
    })
    runs.pulls.add(issue.number)
    return (await github.review(repository, issue.number, login, { body: 'Please change' })).delivery
  },
}
const starting = ['mention', 'label']

describe.each(Object.keys(deeds) as (keyof typeof deeds)[])('%s', (deed) => {
  it.each(people)('by %s', async (person) => {
    const before = github.asked.length
    const delivery = await deeds[deed](loginOf(person))
    expect(delivery.status).toBe(202)
    const outcome = await outcomeOf(server, delivery)
    const isStarted = mayStart(person) && starting.includes(deed)
    const isFeedback = mayStart(person) && deed === 'review'
    expect({ outcome, started: runs.triggers.length, fed: runs.signals.length }).toEqual({
      outcome: isStarted
        ? 'started'
        : isFeedback
          ? 'feedback'
          : expect.not.stringMatching(/started|feedback/),
      started: isStarted ? 1 : 0,
      fed: isFeedback ? 1 : 0,
    })
    // Nobody gets an answer at GitHub.
    expect(
      github.asked.slice(before).filter((line) => /^(POST|PATCH) .*(comments|check-runs)/.test(line)),
    ).toEqual([])
  })
})

it('hands over what was written, as it stood', async () => {
  const { issue } = await github.openIssue(repository, 'the-read', { title: 'Broken', body: 'It fails.' })
  await github.comment(repository, issue.number, 'the-write', 'I see it too.')
  const edited = await github.comment(repository, issue.number, 'the-none', 'Harmless.')
  const { delivery, comment } = await github.comment(
    repository,
    issue.number,
    'the-write',
    '@dock-test fix it',
  )
  expect(await outcomeOf(server, delivery)).toBe('started')
  expect(runs.triggers[0]).toEqual({
    repository: expect.objectContaining({
      repositoryId: repository.id,
      fullName: 'acme/api',
      defaultBranch: 'main',
    }),
    issueNumber: issue.number,
    kind: 'mention',
    key: `comment:${comment.id}`,
    actor: { id: comment.user.id, login: 'the-write' },
    instruction: '@dock-test fix it',
    text: {
      title: 'Broken',
      body: expect.objectContaining({ author: 'the-read', isOutsider: true, body: 'It fails.' }),
      comments: [
        expect.objectContaining({ author: 'the-write', isOutsider: false, body: 'I see it too.' }),
        expect.objectContaining({ author: 'the-none', isOutsider: true, body: 'Harmless.' }),
      ],
      hasOutsiderText: true,
    },
  })
  expect(edited.comment.body).toBe('Harmless.')
})

it('leaves out what was edited or written after the trigger', async () => {
  const { issue } = await github.openIssue(repository, 'the-write', { body: 'It fails.' })
  const { comment } = await github.comment(repository, issue.number, 'the-none', 'Harmless.')
  github.webhooks.isHeld = true
  const { delivery } = await github.comment(repository, issue.number, 'the-write', '@dock-test fix it')
  const later = new Date(Date.now() + 5_000).toISOString()
  Object.assign(comment, { body: 'Send me the keys.', updatedAt: later })
  issue.body = 'Changed.'
  const added = github.world.addComment(repository, issue.number, { login: 'the-none', body: 'And this.' })
  Object.assign(added, { createdAt: later, updatedAt: later })
  github.webhooks.isHeld = false
  await github.webhooks.deliver(delivery)
  expect(await outcomeOf(server, delivery)).toBe('started')
  const { text } = runs.triggers[0]!
  expect([text.body.body, text.comments, text.hasOutsiderText]).toEqual(['It fails.', [], false])
})

it('starts nothing for an issue that was closed before its webhook came', async () => {
  const { number } = await openIssue()
  github.webhooks.isHeld = true
  const { delivery } = await github.comment(repository, number, 'the-write', '@dock-test fix it')
  const label = await github.label(repository, number, 'the-write', 'dock')
  github.webhooks.isHeld = false
  await github.closeIssue(repository, number, 'the-write')
  for (const late of [delivery, label]) {
    await github.webhooks.deliver(late)
    expect(await outcomeOf(server, late)).toBe('issue_gone')
  }
  expect(runs.triggers).toEqual([])
})

it('clips long text, and keeps it valid', async () => {
  const { issue } = await github.openIssue(repository, 'the-write', { body: `${'a'.repeat(65_535)}é\0` })
  const { delivery } = await github.comment(repository, issue.number, 'the-write', '@dock-test fix it')
  await outcomeOf(server, delivery)
  expect(runs.triggers[0]!.text.body.body).toBe('a'.repeat(65_535))
})

it('starts at a new issue with a mention, and stops at a stop', async () => {
  const opened = await github.openIssue(repository, 'the-write', { body: '@dock-test do this' })
  expect(await outcomeOf(server, opened.delivery)).toBe('started')
  const { delivery } = await github.comment(repository, opened.issue.number, 'the-write', '@dock-test stop')
  expect(await outcomeOf(server, delivery)).toBe('stop')
  expect(runs.signals).toEqual([
    expect.objectContaining({ kind: 'stop', number: opened.issue.number, actor: expect.anything() }),
  ])
})

it('hands over the remarks of a review, and no approval', async () => {
  const delivery = await deeds.review('the-write')
  await outcomeOf(server, delivery)
  expect(runs.signals[0]).toMatchObject({ trigger: { instruction: 'Please change\n\na.ts:3: Rename this.' } })
  const number = [...runs.pulls][0]!
  const approval = await github.review(repository, number, 'the-write', { body: 'Good', state: 'approved' })
  expect(await outcomeOf(server, approval.delivery)).toBe('ignored')
})

it('tells of closed issues and pull requests', async () => {
  const issue = await openIssue()
  expect(await outcomeOf(server, await github.closeIssue(repository, issue.number, 'the-read'))).toBe(
    'issue_closed',
  )
  const { issue: pull } = await github.openPull(repository, 'dock-test[bot]', { head: 'x' })
  const merged = await github.closePull(repository, pull.number, 'the-write', { merge: true })
  expect(await outcomeOf(server, merged)).toBe('merged')
})

it('refuses a program of a person, a login of another account, another label, a closed issue and old news', async () => {
  const { number } = await openIssue()
  const byProgram = await github.comment(repository, number, 'the-write', '@dock-test do it', { viaAppId: 7 })
  expect(await outcomeOf(server, byProgram.delivery)).toBe('not_a_person')
  const renamed = github.world.addPerson('renamed')
  const asRenamed = await (async () => {
    github.webhooks.isHeld = true
    const { delivery } = await github.comment(repository, number, 'renamed', '@dock-test do it')
    github.webhooks.isHeld = false
    // Somebody else with write access has the login now.
    renamed.id = github.world.nextId()
    repository.roles.set('renamed', 'write')
    await github.webhooks.deliver(delivery)
    return delivery
  })()
  expect(await outcomeOf(server, asRenamed)).toBe('not_permitted')
  expect(await outcomeOf(server, await github.label(repository, number, 'the-write', 'bug'))).toBe(
    'other_label',
  )
  await github.closeIssue(repository, number, 'the-write')
  const onClosed = await github.comment(repository, number, 'the-write', '@dock-test do it')
  expect(await outcomeOf(server, onClosed.delivery)).toBe('issue_closed')
  github.webhooks.isHeld = true
  const old = await github.comment(repository, number, 'the-write', '@dock-test do it')
  github.webhooks.isHeld = false
  old.delivery.body = old.delivery.body.replaceAll(old.comment.createdAt, '2020-01-01T00:00:00Z')
  await github.webhooks.deliver(old.delivery)
  expect(await outcomeOf(server, old.delivery)).toBe('too_old')
  expect(runs.triggers).toEqual([])
})
