import { expect, it } from 'vitest'
import { mayDelete } from './may-delete.ts'

const dock = (createdBy: string | null) => ({
  organizationId: 'acme',
  createdBy: createdBy === null ? null : { id: createdBy, name: 'Sam' },
})
const person = (role: 'member' | 'admin' | 'owner' | undefined) => ({ id: 'me', roleIn: () => role })

it('the creator and admins may delete a Dock, and nobody else', () => {
  expect(mayDelete(dock('me'), person('member'))).toBe(true)
  expect(mayDelete(dock('you'), person('member'))).toBe(false)
  expect(mayDelete(dock(null), person('member'))).toBe(false)
  expect(mayDelete(dock('you'), person('admin'))).toBe(true)
  expect(mayDelete(dock(null), person('owner'))).toBe(true)
  expect(mayDelete(dock(null), { id: undefined, roleIn: () => undefined })).toBe(false)
})
