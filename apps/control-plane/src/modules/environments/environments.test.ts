/** Tests the Environment routes over HTTP with a real database. */
import { type Environment, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import {
  type Answer,
  addPerson,
  startTestControlPlane,
  type TestControlPlane,
  whileLocked,
} from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

import { listEnvironmentRows } from './environment-store.ts'

let server: TestControlPlane
let memberKey: string
let environment: Environment
const canary = 'canary-5f1c'

beforeAll(async () => {
  server = await startTestControlPlane()
  memberKey = (await addPerson(server, { role: 'member' })).apiKey
})
beforeEach(async () => {
  environment = await made()
})
afterAll(() => server.stop())

const call = (method: string, path: string, body?: unknown, key?: string) =>
  server.call(method, path, body, key)
const data = async (answer: Promise<Answer>): Promise<Environment> => (await answer).body.data as Environment
const code = async (answer: Promise<Answer>): Promise<unknown> => (await answer).body.code
const path = (rest = ''): string => `/v1/environments/${environment.id}${rest}`
const organizationId = (): string => server.admin.organizationId

const made = (name = `env-${newUuid().slice(0, 8)}`): Promise<Environment> =>
  data(call('POST', '/v1/environments', { organizationId: organizationId(), name }))

describe('an Environment', () => {
  it('starts empty at version 1, for admins, and is found by id and by name', async () => {
    expect(environment).toMatchObject({
      currentVersion: 1,
      isDefault: false,
      secretsAccess: 'admins',
      passSecrets: true,
      passGithub: true,
      safeForThirdParties: false,
      passDockCredentials: false,
      passAgentsCredentials: false,
      connections: { github: { connected: false }, gitlab: { connected: false } },
      varNames: [],
      files: [],
      repos: [],
    })
    expect(await data(call('GET', path()))).toEqual(environment)
    const query = `?organizationId=${organizationId()}`
    expect(await data(call('GET', `/v1/environments/${environment.name}${query}`))).toEqual(environment)
    expect(await code(call('GET', `/v1/environments/${environment.name}`))).toBe('validation_error')
    expect(await code(call('GET', `/v1/environments/nowhere${query}`))).toBe('environment_not_found')
    expect(await data(call('GET', path('?organizationId=nonsense')))).toEqual(environment)
    const listed = (await call('GET', `/v1/environments${query}`)).body.data as Environment[]
    expect(listed.map(({ name }) => name)).toContain('default')
    // The sealed bundles of many Environments would fill the memory of the process.
    const rows = await listEnvironmentRows(server.database.db, organizationId())
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) expect(row).not.toHaveProperty('sealed')
  })

  it('has a unique name, which is not a UUID', async () => {
    const again = { organizationId: organizationId(), name: environment.name }
    expect(await code(call('POST', '/v1/environments', again))).toBe('environment_name_taken')
    const other = await made()
    expect(await code(call('PATCH', `/v1/environments/${other.id}`, { name: environment.name }))).toBe(
      'environment_name_taken',
    )
    expect(await code(call('PATCH', path(), { name: newUuid() }))).toBe('validation_error')
    expect((await data(call('PATCH', path(), { name: 'renamed' }))).name).toBe('renamed')
  })

  it('is read by members and changed by admins', async () => {
    expect((await call('GET', path(), undefined, memberKey)).status).toBe(200)
    expect(await code(call('POST', path('/vars'), { key: 'A', value: '1' }, memberKey))).toBe('forbidden')
    expect(await code(call('POST', path('/secrets:reveal'), {}, memberKey))).toBe('forbidden')
  })
})

describe('versions', () => {
  it('are created by every change of bundle or posture, and by nothing else', async () => {
    const steps: [string, string, unknown, number][] = [
      ['POST', '/vars', { key: 'A', value: canary }, 2],
      ['POST', '/vars', { key: 'A', value: canary }, 2],
      ['POST', '/files', { path: 'config/key.pem', contents: canary }, 3],
      ['PATCH', '', { passAgentsCredentials: true }, 4],
      ['PATCH', '', { passAgentsCredentials: true }, 4],
      ['PATCH', '', { secretsAccess: 'members' }, 4],
      ['DELETE', '/vars/A', undefined, 5],
      ['DELETE', '/files/config%2Fkey.pem', undefined, 6],
    ]
    for (const [method, rest, body, version] of steps) {
      const answer = await call(method, path(rest), body)
      expect([method, rest, answer.body.code, (answer.body.data as Environment).currentVersion]).toEqual([
        method,
        rest,
        undefined,
        version,
      ])
    }
    const versions = (await call('GET', path('/versions'))).body.data as {
      version: number
      dockCount: number
    }[]
    expect(versions.map(({ version }) => version)).toEqual([6, 5, 4, 3, 2, 1])
    expect(versions.every(({ dockCount }) => dockCount === 0)).toBe(true)
    expect(await code(call('DELETE', path('/vars/A')))).toBe('not_found')
    expect(await code(call('DELETE', path('/files/none')))).toBe('not_found')
    expect(await code(call('DELETE', path('/files/no/such/file')))).toBe('not_found')
  })

  it('are listed for pages with the names of their contents, never the contents, page by page', async () => {
    await call('POST', path('/vars'), { key: 'TOKEN', value: canary })
    await call('POST', path('/files'), { path: 'key.pem', contents: canary })
    await call('PATCH', path(), { safeForThirdParties: true })
    const target = `/api/dashboard/environments/${environment.id}/versions`
    expect(await code(call('GET', target))).toBe('session_required')
    const headers = await server.signIn()
    const read = async (query = '') => {
      const text = await (await server.fetch(`${target}${query}`, { headers })).text()
      expect(text).not.toContain(canary)
      return routes.listDescribedVersions.response.parse((JSON.parse(text) as { data: unknown }).data)
    }
    const { versions, nextBefore } = await read('?limit=3')
    expect(versions).toMatchObject([
      { version: 4, safeForThirdParties: true, varNames: ['TOKEN'], files: [{ path: 'key.pem', size: 11 }] },
      { version: 3, safeForThirdParties: false, files: [{ path: 'key.pem' }] },
      { version: 2, varNames: ['TOKEN'], files: [], dockCount: 0 },
    ])
    expect(nextBefore).toBe(2)
    const rest = await read(`?limit=3&before=${nextBefore}`)
    expect(rest).toMatchObject({ versions: [{ version: 1, varNames: [], repos: [] }], nextBefore: null })
  })

  it('are created one by one by 20 concurrent writers, without losing an acknowledged write', async () => {
    const write = async (each: number): Promise<boolean> => {
      const answer = await call('POST', path('/vars'), { key: `KEY_${each}`, value: 'x' })
      if (answer.status === 200) return true
      expect(answer.body.code).toBe('conflict')
      return false
    }
    const won = await Promise.all(Array.from({ length: 20 }, (_, each) => write(each)))
    for (const [each, done] of won.entries()) for (let again = done; !again; ) again = await write(each)
    const after = await data(call('GET', path()))
    expect(after.varNames).toHaveLength(20)
    expect(after.currentVersion).toBe(21)
  })
})

describe('secrets', () => {
  it('are unchanged when a reveal is sent back with PUT, including quotes and line breaks', async () => {
    const values = { A: 'one', B: `two "quoted" lines\nwith $X and \\ and 'single'`, C: ' spaces # ' }
    for (const [key, value] of Object.entries(values)) await call('POST', path('/vars'), { key, value })
    await call('POST', path('/files'), { path: 'a/b.txt', contents: 'x\r\ny' })
    const revealed = (await call('POST', path('/secrets:reveal'), {})).body.data as {
      envContents: string
      secretFiles: { path: string; size: number; contents: string }[]
    }
    expect(revealed.secretFiles).toEqual([{ path: 'a/b.txt', size: 4, contents: 'x\r\ny' }])
    const before = (await data(call('GET', path()))).currentVersion
    const secretFiles = revealed.secretFiles.map((file) => ({ path: file.path, contents: file.contents }))
    const after = await data(
      call('PUT', path('/secrets'), { envContents: revealed.envContents, secretFiles }),
    )
    expect(after.currentVersion).toBe(before)
    const dropped = await data(call('PUT', path('/secrets'), { envContents: 'ONLY=1' }))
    expect([dropped.varNames, dropped.files]).toEqual([['ONLY'], []])
    expect(await code(call('PUT', path('/secrets'), { envContents: 'no entry' }))).toBe('validation_error')
  })

  it('are sealed in the database and returned by the reveal only', async () => {
    await call('POST', path('/vars'), { key: 'TOKEN', value: canary })
    await call('POST', path('/files'), { path: 'token', contents: canary })
    await call('POST', path('/repos'), {
      provider: 'github',
      repositoryId: '1',
      fullName: 'owner/name',
      setupScript: `echo ${canary}`,
    })
    const rows = await sql`select v::text from environment_versions v`.execute(server.database.db)
    expect(JSON.stringify(rows.rows)).not.toContain(canary)
    const shown = await call('GET', path())
    expect(JSON.stringify(shown.body)).not.toContain(canary)
    expect(JSON.stringify((await call('POST', path('/secrets:reveal'), {})).body)).toContain(canary)
  })

  it('are revealed at their exact path only', async () => {
    for (const rest of ['/secretsX', '/secrets:other', '/secrets:revealX', '/secrets%3Areveal/x'])
      expect([rest, (await call('POST', path(rest), {})).status]).toEqual([rest, 404])
  })

  it('are limited in number and size', async () => {
    const many = Array.from({ length: 101 }, (_, each) => `V${each}=x`).join('\n')
    expect(await code(call('PUT', path('/secrets'), { envContents: many }))).toBe('validation_error')
    const large = `BIG=${'x'.repeat(64 * 1024)}`
    expect(await code(call('PUT', path('/secrets'), { envContents: large }))).toBe('validation_error')
    const contents = 'x'.repeat(256 * 1024)
    for (const each of [1, 2, 3, 4])
      expect((await call('POST', path('/files'), { path: `f${each}`, contents })).status).toBe(200)
    expect(await code(call('POST', path('/files'), { path: 'f5', contents: 'x' }))).toBe('validation_error')
    const long = 'x'.repeat(256)
    const bads = [
      '/etc/passwd',
      '../x',
      'a/../b',
      '.dock/x',
      '',
      'a\udfff',
      'a\nb',
      './.dock/x',
      './__proto__',
    ]
    for (const bad of [...bads, '.', './.', 'a/', 'a/.', long, `a/${'é'.repeat(128)}`])
      expect([bad, await code(call('POST', path('/files'), { path: bad, contents: '' }))]).toEqual([
        bad,
        'validation_error',
      ])
  })

  it('have one path for each file, and no file in another', async () => {
    const put = (...paths: string[]) =>
      call('PUT', path('/secrets'), { secretFiles: paths.map((each) => ({ path: each, contents: 'x' })) })
    const pathsOf = ({ files }: Environment) => files.map((file) => file.path)
    expect(pathsOf(await data(put('./a//b', './c')))).toEqual(['a/b', 'c'])
    expect(pathsOf(await data(call('POST', path('/files'), { path: 'a/./b', contents: 'y' })))).toEqual([
      'a/b',
      'c',
    ])
    for (const pair of [
      ['x', './x'],
      ['a', './a/b'],
      ['./a/b/c', 'a//b'],
    ])
      expect([pair, await code(put(...pair))]).toEqual([pair, 'validation_error'])
    expect(await code(call('POST', path('/files'), { path: 'c/d', contents: '' }))).toBe('validation_error')
    expect(pathsOf(await data(call('DELETE', path(`/files/${encodeURIComponent('./c')}`))))).toEqual(['a/b'])
  })
})

describe('repositories', () => {
  it('are added once, each with its own folder, and removed', async () => {
    const body = { provider: 'github', repositoryId: '1', fullName: 'owner/name', baseBranch: 'main' }
    const after = await data(call('POST', path('/repos'), body))
    expect(after.repos).toMatchObject([{ fullName: 'owner/name', baseBranch: 'main', hasSetupScript: false }])
    expect(await code(call('POST', path('/repos'), body))).toBe('conflict')
    const sameFolder = { ...body, repositoryId: '2', fullName: 'other/name' }
    expect(await code(call('POST', path('/repos'), sameFolder))).toBe('conflict')
    expect((await call('GET', path('/repos'))).body.data).toEqual(after.repos)
    for (const odd of ['a\0b', 'a\udfffb', 'a\nb'])
      expect(await code(call('POST', path('/repos'), { ...sameFolder, repositoryId: odd }))).toBe(
        'validation_error',
      )
    const id = after.repos[0]!.id
    expect((await data(call('DELETE', path(`/repos/${id}`)))).repos).toEqual([])
    expect(await code(call('DELETE', path(`/repos/${id}`)))).toBe('not_found')
    expect(await code(call('DELETE', path('/repos/nonsense')))).toBe('not_found')
  })
})

describe('the default', () => {
  it('can be moved, passes to the oldest when it is deleted, and the last Environment cannot be deleted', async () => {
    const isDefault = async (id: string) => (await data(call('GET', `/v1/environments/${id}`))).isDefault
    expect((await data(call('PATCH', path(), { isDefault: true }))).isDefault).toBe(true)
    expect(await code(call('PATCH', path(), { isDefault: false }))).toBe('validation_error')
    const listed = (await call('GET', `/v1/environments?organizationId=${organizationId()}`)).body
      .data as Environment[]
    expect(listed.filter((each) => each.isDefault)).toHaveLength(1)
    const first = listed.find(({ name }) => name === 'default')!
    expect((await call('DELETE', path())).body.data).toEqual({ deleted: true })
    expect(await isDefault(first.id)).toBe(true)
    for (const { id } of listed) if (id !== first.id) await call('DELETE', `/v1/environments/${id}`)
    expect(await code(call('DELETE', `/v1/environments/${first.id}`))).toBe('validation_error')
  })
})

describe('the default Environment', () => {
  const listed = async () =>
    (await call('GET', `/v1/environments?organizationId=${organizationId()}`)).body.data as Environment[]
  const defaults = async () => (await listed()).filter((each) => each.isDefault).map(({ id }) => id)
  const makeDefault = (id: string) => call('PATCH', `/v1/environments/${id}`, { isDefault: true })

  it('is exactly one when two are made the default concurrently', async () => {
    const [one, other] = [environment, await made()]
    const lock = 'select 1 from environments for update'
    const answers = await whileLocked(server.database, { lock, waiting: 2 }, () =>
      Promise.all([makeDefault(one.id), makeDefault(other.id)]),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect([[one.id], [other.id]]).toContainEqual(await defaults())
  })

  it('does not change when another Environment is deleted while it is made the default', async () => {
    const { id } = environment
    const former = await defaults()
    expect(former).toHaveLength(1)
    const lock = `select 1 from environments where id = '${id}' for update`
    const [deleted, patched] = await whileLocked(server.database, { lock, waiting: 2 }, async () => {
      const deleting = call('DELETE', `/v1/environments/${id}`)
      const { rows } = await waitForOneLock()
      expect(rows).toHaveLength(1)
      return Promise.all([deleting, makeDefault(id)])
    })
    expect([deleted.status, patched.body.code]).toEqual([200, 'environment_not_found'])
    expect(await defaults()).toEqual(former)
  })

  /** Waits until the delete waits for its row lock, so that the next request comes second. */
  const waitForOneLock = () =>
    vi.waitFor(
      async () => {
        const waiting = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(server.database.db)
        if (waiting.rows.length === 0) throw new Error('no query waits for a lock')
        return waiting
      },
      { timeout: 20_000, interval: 20 },
    )
})

it('deletes a file in nested folders, and accepts repository names with groups for GitLab only', async () => {
  await call('POST', path('/files'), { path: 'deep/er/key.pem', contents: 'x' })
  const left = await data(call('DELETE', path('/files/deep/er/key.pem')))
  expect(left.files).toEqual([])
  const add = (provider: string) =>
    call('POST', path('/repos'), { provider, repositoryId: provider, fullName: `acme/group/${provider}` })
  expect([(await add('gitlab')).status, (await add('github')).body.code]).toEqual([201, 'validation_error'])
})
