import { route } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { expect, it } from 'vitest'
import * as z from 'zod'
import type { Caller, Member, Visitor } from '../modules/accounts/index.ts'
import { createScopeCheck, requireAdmitted } from './check-scope.ts'

const caller: Caller = {
  kind: 'api_key',
  userId: newUuid(),
  email: 'somebody@example.test',
  emailVerified: true,
  credentialId: newUuid(),
  instanceAdmin: false,
}
const about = {
  method: 'GET',
  path: '/v1/x',
  summary: 's',
  description: 'd',
  tag: 't',
  response: z.null(),
  errors: [],
} as const
const ofOrganization = route({
  ...about,
  access: { credentials: 'caller', scope: { organization: 'query.organizationId' }, role: 'admin' },
})
const ofDock = route({
  ...about,
  access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'admin', outsider: 'run_not_found' },
})
const request = { params: { id: 'd' }, query: { organizationId: 'o' }, body: undefined }

const checkWith = (role: 'member' | 'admin' | 'owner' | null) =>
  createScopeCheck({
    ofOrganization: async (userId, id) =>
      role && userId === caller.userId && id === 'o' ? { organizationId: id, role } : undefined,
    ofWorkspace: async () => undefined,
  })

it('returns the member, or throws the not-found code for outsiders and forbidden for a low role', async () => {
  const member = (await checkWith('owner')(ofOrganization, caller, request)) as Member
  expect(member).toMatchObject({ userId: caller.userId, organizationId: 'o', role: 'owner' })
  await expect(checkWith(null)(ofOrganization, caller, request)).rejects.toMatchObject({
    code: 'organization_not_found',
    status: 404,
  })
  await expect(checkWith('member')(ofOrganization, caller, request)).rejects.toMatchObject({
    code: 'forbidden',
  })
})

it('leaves other resources to the handler, and throws if the handler did not admit the visitor', async () => {
  const visitor = (await checkWith('owner')(ofDock, caller, request)) as Visitor
  expect(() => requireAdmitted(ofDock, visitor)).toThrow('without checking')
  expect(() => visitor.admit(null)).toThrow(expect.objectContaining({ code: 'run_not_found', status: 404 }))
  expect(() => visitor.admit({ role: 'member' })).toThrow(expect.objectContaining({ code: 'forbidden' }))
  expect(() => requireAdmitted(ofDock, visitor)).toThrow('without checking')
  const row = { role: 'admin', name: 'mine' } as const
  expect(visitor.admit(row)).toBe(row)
  expect(() => requireAdmitted(ofDock, visitor)).not.toThrow()
})

it('needs no membership on routes of the caller’s own account', async () => {
  const own = route({ ...about, access: { credentials: 'caller', scope: 'person' } })
  expect(await checkWith(null)(own, caller, request)).toBe(caller)
  expect(() => requireAdmitted(own, caller)).not.toThrow()
})
