import { expect, test } from 'vitest'
import type * as z from 'zod'
import { type Access, accessTerms, roleReaches } from './access.ts'
import type { Route } from './route.ts'
import { routes } from './routes.ts'

const id = '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11'
const create = (body: object) => routes.createDock.body.safeParse({ workspaceId: id, ...body })
const exec = (body: object) => routes.execInDock.body.safeParse({ command: 'true', ...body }).success

test('every route is distinct, and all are under /v1 but those of the dashboard', () => {
  const all = (Object.values(routes) as Route[]).map((route) => `${route.method} ${route.path}`)
  expect(all.filter((route, at) => all.indexOf(route) !== at)).toEqual([])
  expect(all.filter((route) => !/ \/(v1|api\/live$|api\/dashboard)/.test(route))).toEqual([])
})

test('an id in a path is not case-sensitive', () => {
  const notUuids = ['readOperation', 'removeConnection']
  for (const [name, { path, params }] of Object.entries(routes) as [string, Route][]) {
    if (!path.includes('/:id') || notUuids.includes(name)) continue
    const others = { port: '80', userId: id, invitationId: id, deliveryId: id, pid: id, to: id }
    expect(params?.parse({ ...others, id: id.toUpperCase() }), name).toMatchObject({ id })
  }
})

test('every body refuses an unknown field', () => {
  for (const [name, route] of Object.entries(routes) as [string, Route][]) {
    if (!route.body) continue
    const result = route.body.safeParse({ unheardOf: 1 })
    expect(
      result.error?.issues.map((issue) => issue.code),
      name,
    ).toContain('unrecognized_keys')
  }
})

test('every scope names a field of its route, and the route lists the code for non-members', () => {
  const scoped = (Object.entries(routes) as [string, Route][]).filter(([, route]) =>
    accessTerms(route.access),
  )
  expect(scoped).not.toHaveLength(0)
  for (const [name, route] of scoped) {
    const { place, outsider } = accessTerms(route.access)!
    const [part, key] = place.split('.') as ['params' | 'query' | 'body', string]
    expect(Object.keys((route[part] as z.ZodObject | undefined)?.shape ?? {}), name).toContain(key)
    expect(route.errors, name).toContain(outsider)
  }
})

test('a role includes itself and all lower roles', () => {
  expect([roleReaches('member', 'member'), roleReaches('owner', 'admin')]).toEqual([true, true])
  expect([roleReaches('member', 'admin'), roleReaches('admin', 'owner')]).toEqual([false, false])
})

test('an access declaration without a scope or role does not compile', () => {
  // @ts-expect-error: the scope is missing
  const noScope: Access = { credentials: 'caller' }
  // @ts-expect-error: the role is missing
  const noRole: Access = { credentials: 'session', scope: { organization: 'query.organizationId' } }
  const foreignKey: Access = {
    credentials: 'caller',
    scope: { run: 'params.id' },
    role: 'member',
    // @ts-expect-error: a Dock-bound key may only access its own Dock
    dockKey: true,
  }
  expect([noScope, noRole, foreignKey]).toHaveLength(3)
})

test('create fills in defaults, and leaves image and disk to the server', () => {
  expect(create({}).data).toEqual({
    workspaceId: id,
    cpus: 2,
    memoryMiB: 4096,
    ttlSeconds: null,
    noEnv: false,
  })
})

test.each([
  [{ cpus: 0 }, { cpus: 64 }],
  [{ cpus: 1.5 }, { cpus: 1 }],
  [{ memoryMiB: 511 }, { memoryMiB: 512 }],
  [{ diskGiB: 2049 }, { diskGiB: 2048 }],
  [{ ttlSeconds: 59 }, { ttlSeconds: 60 }],
  [{ ttlSeconds: 2_592_001 }, { ttlSeconds: 2_592_000 }],
  [{ name: 'x'.repeat(101) }, { name: 'x'.repeat(100) }],
  [{ env: { DOCK_X: '1' } }, { env: { DOCKX: '1' } }],
  [{ env: { PATH: '1' } }, { env: { PATHS: '1' } }],
  [{ env: { '1A': '1' } }, { env: { A1: '1' } }],
  [{ env: { A: 'x'.repeat(65_536) } }, { env: { A: 'x'.repeat(65_535) } }],
])('create refuses %o and accepts %o', (refused, taken) => {
  expect(create(refused).success).toBe(false)
  expect(create(taken).success).toBe(true)
})

test('exec counts bytes, not characters', () => {
  expect(exec({ command: 'é'.repeat(32_768) })).toBe(true)
  expect(exec({ command: 'é'.repeat(32_769) })).toBe(false)
  expect(exec({ command: '' })).toBe(false)
  expect(exec({ cwd: 'tmp' })).toBe(false)
  expect(exec({ timeoutSeconds: 601 })).toBe(false)
  expect(routes.execInDock.body.parse({ command: 'x' })).toMatchObject({
    timeoutSeconds: 60,
    cwd: '/home/user/work',
  })
})

test('lists parse numbers, booleans and filters from the query string', () => {
  expect(routes.listSnapshots.query.parse({ limit: '7' })).toEqual({ limit: 7 })
  expect(routes.listSnapshots.query.parse({})).toEqual({ limit: 50 })
  for (const limit of ['0', '101', 'x', '1.5', ''])
    expect(routes.listSnapshots.query.safeParse({ limit }).success).toBe(false)
  const { query } = routes.listDocks
  expect(query.parse({})).toEqual({ filter: 'r', all: false })
  expect(query.parse({ all: 'true', filter: 'x' })).toMatchObject({ all: true })
  expect(query.safeParse({ filter: 'x' }).error?.issues[0]?.path).toEqual(['filter'])
  expect(query.safeParse({ all: 'yes' }).success).toBe(false)
})

test('names, paths, ports and invitations are validated', () => {
  const template = (name: string) => routes.createTemplate.body.safeParse({ dockId: id, name })
  expect(template(' base-1 ').data?.name).toBe('base-1')
  for (const name of ['ab', '-abc', 'abc_', 'Abc']) expect(template(name).success).toBe(false)
  const file = (path: string) => routes.setEnvironmentFile.body.safeParse({ path, contents: '' }).success
  expect(file('config/app.json')).toBe(true)
  for (const path of ['/etc/x', 'a/../b', '.dock/x', './.dock/x', '']) expect(file(path)).toBe(false)
  const port = (value: unknown) => routes.exposePort.body.safeParse({ port: value }).success
  expect([1, 65_535].every(port)).toBe(true)
  expect([0, 65_536, 2222, '80'].some(port)).toBe(false)
  const invite = (body: object) => routes.inviteMember.body.safeParse(body).success
  expect(invite({ email: 'a@b.example' })).toBe(true)
  expect(invite({}) || invite({ email: 'a@b.example', userId: id })).toBe(false)
})
