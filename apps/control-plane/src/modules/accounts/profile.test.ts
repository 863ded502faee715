import { type LoginConnection, type Profile, routes } from '@dock/contract'
import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let server: TestControlPlane
beforeEach(async () => {
  server = await startTestControlPlane()
})
afterEach(() => server.stop())

describe('the profile', () => {
  const patch = async (body: object): Promise<Profile> =>
    routes.updateProfile.response.parse((await server.call('PATCH', '/v1/me/profile', body)).body.data)

  it('changes only the given fields', async () => {
    const before = routes.readProfile.response.parse((await server.call('GET', '/v1/me/profile')).body.data)
    expect(before).toMatchObject({ displayName: 'Admin', avatarUrl: null, bio: '' })
    await patch({ bio: 'Builds things.' })
    const after = await patch({ displayName: 'Ada', avatarUrl: 'https://example.test/a.png' })
    expect(after).toMatchObject({
      userId: before.userId,
      displayName: 'Ada',
      avatarUrl: 'https://example.test/a.png',
      bio: 'Builds things.',
      createdAt: before.createdAt,
    })
    expect(after.updatedAt >= before.updatedAt).toBe(true)
    expect((await server.call('GET', '/v1/me/profile')).body.data).toEqual(after)
  })

  it('refuses values that are too long or unprintable, and unknown fields', async () => {
    for (const body of [
      { displayName: '' },
      { displayName: 'x'.repeat(61) },
      { displayName: ' ' },
      { displayName: 'Ada\nLovelace' },
      { displayName: 'Ada\u202eLovelace' },
      { bio: 'x'.repeat(281) },
      { avatarUrl: 'javascript:alert(1)' },
      { avatarUrl: 'example.test/a.png' },
      { avatarUrl: `https://example.test/${'a'.repeat(2000)}` },
      { avatarUrl: 'https://example.test/\u202ea.png' },
      { email: 'other@example.test' },
    ]) {
      const answer = await server.call('PATCH', '/v1/me/profile', body)
      expect([body, answer.status, answer.body.code]).toEqual([body, 400, 'validation_error'])
    }
  })
})

describe('connections', () => {
  const list = async (): Promise<LoginConnection[]> => {
    const { body } = await server.call('GET', '/v1/me/connections')
    return routes.listConnections.response.parse(body.data).connections
  }
  const remove = (id: string) => server.call('DELETE', `/v1/me/connections/${encodeURIComponent(id)}`)
  const link = (provider: string, id: string) =>
    sql`insert into login_accounts (user_id, provider_id, account_id)
      select id, ${provider}, ${id} from users`.execute(server.database.db)

  it('are listed with the password first, as the primary login', async () => {
    await link('github', '42')
    expect(await list()).toMatchObject([
      {
        id: 'credential:admin@dock.localhost',
        provider: 'credential',
        identifier: 'admin@dock.localhost',
        primary: true,
      },
      { id: 'github:42', provider: 'github', identifier: '42', primary: false },
    ])
  })

  it('are removed, except for the password', async () => {
    await link('github', '42')
    expect((await remove('github:43')).body.data).toEqual({ removed: false })
    expect((await remove('credential:admin@dock.localhost')).body.data).toEqual({ removed: false })
    expect((await remove('github:42')).body.data).toEqual({ removed: true })
    expect((await remove('github:42')).body.data).toEqual({ removed: false })
    expect(await list()).toHaveLength(1)
  })

  it('keep the last login, even when the last two are removed concurrently', async () => {
    const only = await remove('credential:admin@dock.localhost')
    expect([only.status, only.body.code]).toEqual([409, 'last_login_method'])
    await sql`delete from login_accounts`.execute(server.database.db)
    await link('github', '42')
    await link('google', '43')
    const answers = await Promise.all([remove('github:42'), remove('google:43')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await list()).toHaveLength(1)
  })
})
