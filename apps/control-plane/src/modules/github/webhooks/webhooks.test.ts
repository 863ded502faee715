/** Webhooks of GitHub arrive late, twice, out of order, or not at all. Each has its effect once. */
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
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { askAgain } from './ask-again.ts'
import { readConcern } from './payloads.ts'
import { claimWebhooks, pruneWebhooks } from './webhook-store.ts'

let github: Github
let server: TestControlPlane
let runs: RecordedRuns

beforeAll(async () => {
  github = await startGithub()
  runs = recordRuns()
  server = await startTestControlPlane({ environment: github.settings, runs: runs.sink })
  connectWebhooks(server, github)
})
afterAll(async () => {
  await server.stop()
  await github.close()
})
beforeEach(() => {
  runs.triggers.length = 0
  runs.signals.length = 0
  github.faults.length = 0
  github.webhooks.isHeld = false
})

/** A linked repository of its own, so that tests do not share a limit. */
const linked = async () => {
  const repository = github.world.addRepository(`acme/r${github.world.nextId()}`, { ada: 'admin' })
  const installation = github.world.install(repository)
  const id = await linkAtGithub(server, github, 'ada', repository)
  const { issue } = await github.openIssue(repository, 'ada')
  return { repository, installation, id, number: issue.number }
}
const mention = async ({
  repository,
  number,
}: Pick<Awaited<ReturnType<typeof linked>>, 'repository' | 'number'>) =>
  (await github.comment(repository, number, 'ada', '@dock-test fix it')).delivery
/** Makes a mention whose webhook nobody has received. */
const heldMention = async (of: Parameters<typeof mention>[0]) => {
  github.webhooks.isHeld = true
  const delivery = await mention(of)
  github.webhooks.isHeld = false
  return delivery
}
const names = async (id: string): Promise<string[]> => {
  const path = `/v1/github/installations?workspaceId=${server.admin.workspaceId}`
  const { body } = await server.call('GET', path)
  return (body.data as { id: string; repos: string[] }[]).find((each) => each.id === id)?.repos ?? []
}

it('one delivery 20 times at once, and its body under new ids, starts one Run', async () => {
  const delivery = await heldMention(await linked())
  const ids = Array.from({ length: 5 }, (_, index) => `${delivery.guid}-${index}`)
  const statuses = await Promise.all([
    ...Array.from({ length: 20 }, () => github.webhooks.deliver(delivery)),
    ...ids.map((guid) => github.webhooks.deliver(delivery, guid)),
  ])
  expect(new Set(statuses)).toEqual(new Set([202]))
  const outcomes = await Promise.all([delivery.guid, ...ids].map((guid) => outcomeOf(server, { guid })))
  expect(outcomes.toSorted()).toEqual([...ids.map(() => 'duplicate'), 'started'])
  expect(runs.triggers).toHaveLength(1)
})

it('what was saved by a process that died right after its 202 has its effect once', async () => {
  const made = await linked()
  const deliveries = []
  for (let index = 0; index < 5; index += 1) deliveries.push(await heldMention(made))
  const { db } = server.database
  // Nobody is woken, as if the process had died between the insert and the work.
  await sql`alter table github_webhooks disable trigger github_webhooks_saved`.execute(db)
  for (const { guid, event, body } of deliveries)
    await sql`insert into github_webhooks (id, delivery_id, event, body, received_at, next_attempt_at)
      values (gen_random_uuid(), ${guid}, ${event}, ${Buffer.from(body)}, now(), now())`.execute(db)
  await sql`alter table github_webhooks enable trigger github_webhooks_saved`.execute(db)
  for (const delivery of deliveries) expect(await outcomeOf(server, delivery)).toBe('started')
  expect(new Set(runs.triggers.map(({ key }) => key)).size).toBe(5)
}, 30_000)

it('what a killed process was working on is taken up by the next one at once', async () => {
  const { guid, event, body } = await heldMention(await linked())
  const { github: module } = server.controlPlane
  await module.stop()
  await sql`insert into github_webhooks (id, delivery_id, event, body, received_at, attempts, is_leased, next_attempt_at)
    values (gen_random_uuid(), ${guid}, ${event}, ${Buffer.from(body)}, now(), 1, true, now() + interval '1 hour')`.execute(
    server.database.db,
  )
  module.start()
  expect(await outcomeOf(server, { guid })).toBe('started')
})

it('a webhook is leased: nobody takes it while its process may still work', async () => {
  const { db } = server.database
  const id = crypto.randomUUID()
  // In the future, so that the running engine does not take it.
  const due = new Date(Date.now() + 3_600_000)
  const after = (ms: number) => claimWebhooks(db, 10, new Date(due.getTime() + ms))
  await sql`alter table github_webhooks disable trigger github_webhooks_saved`.execute(db)
  await sql`insert into github_webhooks (id, delivery_id, event, body, received_at, next_attempt_at)
    values (${id}, ${id}, 'issues', '{}', ${due}, ${due})`.execute(db)
  await sql`alter table github_webhooks enable trigger github_webhooks_saved`.execute(db)
  expect((await after(0)).items.map((row) => row.id)).toEqual([id])
  expect((await after(100_000)).items).toEqual([])
  expect((await after(121_000)).items.map((row) => row.id)).toEqual([id])
  await sql`delete from github_webhooks where id = ${id}`.execute(db)
})

it('what never arrived is asked for again, once', async () => {
  const made = await linked()
  const delivery = await heldMention(made)
  const look = () =>
    askAgain({
      db: server.database.db,
      logger: { info: () => undefined } as never,
      api: server.controlPlane.github.context.api,
      findApp: server.controlPlane.github.context.findApp,
      clock: { now: () => new Date(Date.now() + 120_000) } as never,
    })
  // GitHub's list also has what arrived.
  await look()
  expect(await outcomeOf(server, delivery)).toBe('started')
  const asked = () => github.asked.filter((line) => line.endsWith('/attempts')).length
  expect(asked()).toBe(1)
  await look()
  expect(asked()).toBe(1)
})

it.each([502, 429])(
  'GitHub answering %i postpones the decision and starts nothing',
  async (status) => {
    const made = await linked()
    const fault = { matches: /permission/, status, times: Number.POSITIVE_INFINITY }
    github.faults.push(fault)
    const { guid } = await mention(made)
    const { db } = server.database
    const isPostponed = async () => {
      const { rows } = await sql`select from github_webhooks where delivery_id = ${guid} and attempts > 0
        and not is_leased and processed_at is null and next_attempt_at > now()`.execute(db)
      return rows.length === 1
    }
    await expect.poll(isPostponed, { interval: 10 }).toBe(true)
    expect(runs.triggers).toEqual([])
    fault.times = 0
    // The pause is over.
    await sql`update github_webhooks set next_attempt_at = now() where delivery_id = ${guid}`.execute(db)
    server.controlPlane.github.wake()
    expect(await outcomeOf(server, { guid })).toBe('started')
    expect(
      github.asked.filter((line) => line.includes(`${made.repository.id}/collaborators`)).length,
    ).toBeGreaterThan(1)
  },
  30_000,
)

it('GitHub refusing to tell the permission starts nothing', async () => {
  const made = await linked()
  github.faults.push({ matches: /permission/, status: 422, times: 1 })
  expect(await outcomeOf(server, await mention(made))).toBe('failed')
  expect(runs.triggers).toEqual([])
})

it('ten an hour, then one notice, and a stop still works', async () => {
  const hour = () => Math.floor(Date.now() / 3_600_000)
  let made: Awaited<ReturnType<typeof linked>>
  let outcomes: string[]
  let began: number
  // Once more, if the hour ended meanwhile: its count began again.
  do {
    began = hour()
    made = await linked()
    outcomes = []
    for (let index = 0; index < 13; index += 1) outcomes.push(await outcomeOf(server, await mention(made)))
  } while (hour() !== began)
  expect(outcomes).toEqual([...Array(10).fill('started'), ...Array(3).fill('limited')])
  const notices = () => made.repository.comments.filter(({ body }) => body.startsWith('Too many Runs'))
  await expect.poll(() => notices().length).toBe(1)
  const stop = await github.comment(made.repository, made.number, 'ada', '@dock-test stop')
  expect(await outcomeOf(server, stop.delivery)).toBe('stop')
  expect(notices()).toHaveLength(1)
})

describe('a webhook that is not GitHub’s', () => {
  const post = async (headers: Record<string, string>, body = '{}') =>
    (await server.fetch('/v1/github/events', { method: 'POST', headers, body })).status

  it('is refused', async () => {
    const delivery = await heldMention(await linked())
    const { send } = github.webhooks
    const seen: Record<string, string>[] = []
    github.webhooks.send = async (headers) => seen.push(headers)
    await github.webhooks.deliver(delivery)
    github.webhooks.send = send
    const [headers] = seen
    const signature = headers!['x-hub-signature-256']!
    expect(await post({ ...headers, 'x-hub-signature-256': '' }, delivery.body)).toBe(400)
    expect(
      await post({ ...headers, 'x-hub-signature-256': `${signature.slice(0, -1)}x` }, delivery.body),
    ).toBe(400)
    expect(await post(headers!, `${delivery.body} `)).toBe(400)
    expect(await post({ ...headers, 'x-github-delivery': 'a b' }, delivery.body)).toBe(400)
    expect(await post(headers!, 'x'.repeat(8 * 1024 * 1024 + 1))).toBe(400)
    expect(await post(headers!, delivery.body)).toBe(202)
    expect(await outcomeOf(server, delivery)).toBe('started')
  })

  it('is refused by its headers before its body is read', async () => {
    const signature = `sha256=${'0'.repeat(64)}`
    const good = {
      'x-hub-signature-256': signature,
      'x-github-delivery': crypto.randomUUID(),
      'x-github-event': 'issues',
    }
    let pulled = 0
    const send = async (headers: Record<string, string>) => {
      pulled = 0
      const body = new ReadableStream(
        {
          pull: (controller) => {
            pulled += 1
            controller.close()
          },
        },
        { highWaterMark: 0 },
      )
      const { status } = await server.fetch('/v1/github/events', {
        method: 'POST',
        headers,
        body,
        duplex: 'half',
      } as RequestInit)
      return [status, pulled]
    }
    for (const name of Object.keys(good)) {
      const without = Object.fromEntries(Object.entries(good).filter(([each]) => each !== name))
      expect([name, ...(await send(without))]).toEqual([name, 400, 0])
    }
    for (const wrong of [
      '',
      'sha256=',
      signature.slice(0, -1),
      `${signature}0`,
      signature.replace('256', '1'),
    ])
      expect([wrong, ...(await send({ ...good, 'x-hub-signature-256': wrong }))]).toEqual([wrong, 400, 0])
    expect(await send({ ...good, 'x-github-delivery': 'a b' })).toEqual([400, 0])
    expect(await send(good)).toEqual([400, 1])
  })

  it('is refused with 503 if it is large and four such are being read', async () => {
    const headers = {
      'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
      'x-github-delivery': crypto.randomUUID(),
      'x-github-event': 'issues',
    }
    const large = new Uint8Array(256 * 1024 + 1)
    const held = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const { readable, writable } = new TransformStream()
        const writer = writable.getWriter()
        const init = { method: 'POST', headers, body: readable, duplex: 'half' } as RequestInit
        const response = server.fetch('/v1/github/events', init)
        await writer.write(large)
        // The first bytes have been read when it takes more.
        await writer.write(new Uint8Array(1))
        return { response, end: () => writer.close() }
      }),
    )
    const send = () => server.fetch('/v1/github/events', { method: 'POST', headers, body: large })
    const refused = await send()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10'])
    expect(await post(headers)).toBe(400)
    for (const { end } of held) await end()
    for (const { response } of held) expect((await response).status).toBe(400)
    expect((await send()).status).toBe(400)
  })
})

describe('the link of a repository', () => {
  it('follows a rename by the number', async () => {
    const made = await linked()
    await outcomeOf(
      server,
      await github.rename(made.repository, `renamed-${made.number}-${made.repository.id}`),
    )
    expect(await names(made.id)).toEqual([`acme/renamed-${made.number}-${made.repository.id}`])
    expect(await outcomeOf(server, await mention(made))).toBe('started')
    expect(runs.triggers[0]!.repository.fullName).toContain('renamed')
  })

  it('ends with a transfer, a removal, an uninstall and a delete by a person', async () => {
    for (const end of [
      ({ repository }: Awaited<ReturnType<typeof linked>>) => github.transfer(repository, 'other'),
      ({ installation, repository }: Awaited<ReturnType<typeof linked>>) =>
        github.removeRepositories(installation, [repository.id]),
      ({ installation }: Awaited<ReturnType<typeof linked>>) => github.uninstall(installation),
    ]) {
      const made = await linked()
      runs.signals.length = 0
      expect(await outcomeOf(server, await end(made))).toBe('unlinked')
      expect(await names(made.id)).toEqual([])
      const { id: installationId, repository } = made
      expect(runs.signals).toEqual([{ kind: 'unlinked', installationId, repositoryIds: [repository.id] }])
    }
    const made = await linked()
    const path = `/v1/github/installations/${made.id}?workspaceId=${server.admin.workspaceId}`
    expect((await server.call('DELETE', path)).body.data).toEqual({ removed: true })
    expect(await outcomeOf(server, await mention(made))).toBe('not_linked')
    expect((await server.call('GET', path)).body.code).toBe('installation_not_found')
  })

  it('does not end with a webhook of a transfer that comes after it was linked again', async () => {
    const { repository } = await linked()
    github.webhooks.isHeld = true
    const late = await github.transfer(repository, 'other')
    github.webhooks.isHeld = false
    github.world.install(repository)
    const id = await linkAtGithub(server, github, 'ada', repository)
    await github.webhooks.deliver(late)
    await outcomeOf(server, late)
    expect(await names(id)).toEqual([`other/${repository.name}`])
  })
})

describe('of strangers, who may install the App too', () => {
  const kept = async (guid: string) => {
    const { rows } = await sql<{ outcome: string | null; body: Buffer | null; attempts: number }>`
      select outcome, body, attempts from github_webhooks where delivery_id = ${guid}`.execute(
      server.database.db,
    )
    return rows[0]
  }
  const stranger = async () => {
    const repository = github.world.addRepository(`stranger/r${github.world.nextId()}`, { ada: 'admin' })
    const installation = github.world.install(repository)
    const { issue } = await github.openIssue(repository, 'ada')
    return { repository, installation, number: issue.number }
  }

  it('only the delivery id is kept, and nothing is done', async () => {
    const delivery = await mention(await stranger())
    expect(await kept(delivery.guid)).toEqual({ outcome: 'not_linked', body: null, attempts: 0 })
    expect(runs.triggers).toEqual([])
  })

  it('GitHub is not asked for one again, and its delivery id is forgotten after four days', async () => {
    const delivery = await mention(await stranger())
    await sql`update github_webhooks set received_at = received_at - interval '3 days' where delivery_id = ${delivery.guid}`.execute(
      server.database.db,
    )
    await pruneWebhooks(server.database.db, new Date())
    expect(await kept(delivery.guid)).toBeDefined()
    await pruneWebhooks(server.database.db, new Date(Date.now() + 86_400_000 + 60_000))
    expect(await kept(delivery.guid)).toBeUndefined()
  })

  it('a long list of repositories is not kept, not even that of a linked installation', () => {
    const repositories_removed = Array.from({ length: 1_000 }, (_, n) => ({
      id: n + 1,
      name: 'x'.repeat(200),
    }))
    const sent = { action: 'removed', installation: { id: 5, more: 'x'.repeat(1_000) }, repositories_removed }
    const { kept: body, ...concern } = readConcern(
      'installation_repositories',
      Buffer.from(JSON.stringify(sent)),
    )
    expect(concern).toEqual({ installationId: 5, repositoryId: null })
    expect(body.length).toBeLessThan(15_000)
    expect(JSON.parse(body.toString())).toMatchObject({ action: 'removed', installation: { id: 5 } })
    expect(readConcern('issues', Buffer.from('no JSON'))).toMatchObject({
      installationId: null,
      repositoryId: null,
    })
  })

  it.each([
    ['issue_comment', 2 * 2 ** 20 + 1, 400],
    ['ping', 2 * 2 ** 20 + 1, 400],
    ['installation', 8 * 2 ** 20 + 1, 400],
  ])('a body of %s with %i bytes is not read', async (event, length, status) => {
    const response = await server.fetch('/v1/github/events', {
      method: 'POST',
      headers: {
        'x-github-event': event,
        'x-github-delivery': crypto.randomUUID(),
        'content-length': String(length),
        'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
      },
      body: Buffer.alloc(16),
    })
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([
      status,
      expect.stringContaining('larger than'),
    ])
  })
})
