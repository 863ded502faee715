import type { PortEntry } from '@dock/contract'
import { issueDockKey } from '@dock/control-plane/keys'
import { addPerson, type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { portUrl, readHost } from './port-domain.ts'
import { readPortsDomain } from './read-ports-domain.ts'

let server: ControlPlaneWithHost
let dockId: string
beforeAll(async () => {
  server = await startControlPlaneWithHost()
})
afterAll(() => server.stop())
beforeEach(async () => {
  dockId = await server.addDock()
})

const path = (suffix = '') => `/v1/docks/${dockId}/ports${suffix}`
const expose = (port: unknown, key?: string) => server.call('POST', path(), { port }, key)
const exposed = async (port: number): Promise<PortEntry> => (await expose(port)).body.data as PortEntry
const list = async () => (await server.call('GET', path())).body.data as PortEntry[]
const remove = (port: number | string, key?: string) =>
  server.call('DELETE', path(`/${port}`), undefined, key)

describe('ports of a Dock', () => {
  it('have a unique URL, which stays the same while exposed and changes when exposed again', async () => {
    const answer = await expose(3000)
    expect(answer.status).toBe(201)
    const first = answer.body.data as PortEntry
    expect(first.url).toMatch(/^http:\/\/3000-[a-z2-7]{20}\.docks\.localhost:8080$/)
    expect(await exposed(3000)).toEqual(first)
    expect(await list()).toEqual([first])
    expect((await remove(3000)).body).toEqual({ ok: true, data: { deleted: true } })
    expect(await list()).toEqual([])
    expect((await exposed(3000)).url).not.toBe(first.url)
  })

  it.each([0, 65_536, 2222, 1.5, '80', null])('refuses the port %s', async (port) => {
    expect((await expose(port)).body.code).toBe('validation_error')
  })

  it('are limited to ten, even for concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 14 }, (_, index) => expose(8000 + index)))
    const codes = answers.map(({ status, body }) => body.code ?? status)
    expect(codes.filter((code) => code === 201)).toHaveLength(10)
    expect(codes.filter((code) => code === 'port_limit_reached')).toHaveLength(4)
    const [first] = await list()
    expect((await expose(first?.port)).status).toBe(201)
  })

  it('are not found if they are not exposed or the caller is an outsider', async () => {
    for (const port of [3000, 70_000, 'x']) expect((await remove(port)).body.code).toBe('port_not_found')
    const stranger = await addPerson(server)
    await expose(3000)
    expect((await expose(3000, stranger.apiKey)).body.code).toBe('dock_not_found')
    expect((await remove(3000, stranger.apiKey)).body.code).toBe('dock_not_found')
  })

  it("can be exposed with the Dock's own key, but not on another Dock", async () => {
    const { db } = server.database
    const { userId } = await addPerson(server, {
      role: 'member',
      organizationId: server.admin.organizationId,
    })
    const { organizationId } = server.admin
    const key = await issueDockKey(db, { dockId, organizationId, userId, now: new Date() })
    if (key === null) throw new Error('no key was issued')
    expect((await expose(3000, key)).status).toBe(201)
    expect((await server.call('GET', path(), undefined, key)).status).toBe(200)
    expect((await remove(3000, key)).status).toBe(200)
    const other = await server.addDock()
    const answer = await server.call('POST', `/v1/docks/${other}/ports`, { port: 3000 }, key)
    expect(answer.body.code).toBe('dock_key_forbidden')
  })

  it('stay exposed when the Dock stops', async () => {
    const before = await exposed(3000)
    await server.call('POST', `/v1/docks/${dockId}/stop`, {})
    expect(await list()).toEqual([before])
    expect((await expose(4000)).status).toBe(201)
  })

  it('are deleted with their Dock', async () => {
    await exposed(3000)
    await server.database.db.deleteFrom('docks').where('id', '=', dockId).execute()
    const left = await server.database.db
      .selectFrom('dock_ports')
      .selectAll()
      .where('dock_id', '=', dockId)
      .execute()
    expect(left).toEqual([])
  })
})

describe('disabled hosted ports', () => {
  it('cannot be exposed, but are listed without a URL and can be removed', async () => {
    const off = await startControlPlaneWithHost({ environment: { PORTS_DOMAIN: 'off' } })
    try {
      const id = await off.addDock()
      const answer = await off.call('POST', `/v1/docks/${id}/ports`, { port: 3000 })
      expect([answer.status, answer.body.code]).toEqual([503, 'ports_unavailable'])
      await off.database.db
        .insertInto('dock_ports')
        .values({
          dock_id: id,
          organization_id: off.admin.organizationId,
          port: 3000,
          label: 'a'.repeat(20),
          created_at: new Date(0),
        })
        .execute()
      const listed = await off.call('GET', `/v1/docks/${id}/ports`)
      expect(listed.body.data).toEqual([{ port: 3000, url: null, createdAt: '1970-01-01T00:00:00.000Z' }])
      expect((await off.call('DELETE', `/v1/docks/${id}/ports/3000`)).status).toBe(200)
      const config = await off.call('GET', '/v1/config', undefined, null)
      expect(config.body.data).toMatchObject({ ports: null })
    } finally {
      await off.stop()
    }
  })
})

describe('the domain of hosted ports', () => {
  const urls = (url: string) => ({ apiUrl: url, appUrl: url })

  it('defaults to docks.localhost for a service on loopback, and to none otherwise', () => {
    const local = { scheme: 'http', domain: 'docks.localhost', port: 8080 }
    expect(readPortsDomain(undefined, urls('http://127.0.0.1:8080'))).toEqual(local)
    expect(readPortsDomain(undefined, urls('http://localhost:8080'))).toEqual(local)
    expect(readPortsDomain(undefined, urls('https://dock.example.com'))).toBeNull()
    expect(readPortsDomain('off', urls('http://127.0.0.1:8080'))).toBeNull()
  })

  it('has the scheme of the service, and the configured port or that of the service', () => {
    const domain = readPortsDomain('Ports.Example.net', urls('https://dock.example.com'))!
    expect(portUrl(domain, 80, 'abc')).toBe('https://80-abc.ports.example.net')
    const other = readPortsDomain('ports.example.net:8443', urls('https://dock.example.com'))!
    expect(portUrl(other, 80, 'abc')).toBe('https://80-abc.ports.example.net:8443')
  })

  it.each(['example', 'http://ports.example.net', 'ports.example.net/', '10.0.0.1', 'a b.c'])(
    'cannot be %s, which is malformed',
    (setting) => {
      expect(() => readPortsDomain(setting, urls('https://dock.example.com'))).toThrow('PORTS_DOMAIN')
    },
  )

  it.each(['dock.example.com', 'ports.dock.example.com', 'example.com'])(
    'cannot be %s, which shares cookies with the service',
    (setting) => {
      expect(() => readPortsDomain(setting, urls('https://dock.example.com'))).toThrow('cookies')
    },
  )

  it('covers all its subdomains, but only well-formed ones identify a port', () => {
    const domain = { scheme: 'http', domain: 'docks.localhost', port: 8080 } as const
    const label = 'abcdefghij234567abcd'
    expect(readHost(domain, `3000-${label}.docks.localhost:8080`)).toEqual({ port: 3000, label })
    expect(readHost(domain, `3000-${label.toUpperCase()}.DOCKS.localhost.`)).toEqual({ port: 3000, label })
    for (const host of [
      'docks.localhost',
      `${label}.docks.localhost`,
      `03000-${label}.docks.localhost`,
      `x.3000-${label}.docks.localhost`,
      `3000-${label}x.docks.localhost`,
    ])
      expect([host, readHost(domain, host)]).toEqual([host, null])
    for (const host of [undefined, '', '127.0.0.1:8080', 'notdocks.localhost', 'docks.localhost.evil.test'])
      expect([host, readHost(domain, host)]).toEqual([host, undefined])
  })
})
