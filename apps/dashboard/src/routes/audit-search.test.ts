import { expect, it } from 'vitest'
import { auditSearch } from './audit-search.ts'

const person = '11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa'

it('reads the filters of an address', () => {
  const filters = { action: 'member.removed', person, from: '2026-11-01', to: '2026-11-30' }
  expect(auditSearch({ ...filters, other: 'x' })).toEqual(filters)
})

it('leaves out what the service would refuse', () => {
  expect(auditSearch({ action: 'Member ', person: 'ada', from: 'yesterday', to: '2026-13-45' })).toEqual({
    ...{ action: undefined, person: undefined, from: undefined, to: undefined },
  })
})
