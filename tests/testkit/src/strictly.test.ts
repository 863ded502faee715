import { expect, it } from 'vitest'
import * as z from 'zod'
import { boundedList } from '../../../packages/host-protocol/src/bounded.ts'
import { checkStrictly } from './strictly.ts'

const schema = z.object({
  name: z.string().transform((text) => text.slice(0, 3)),
  list: boundedList(z.object({ id: z.number(), more: z.object({ at: z.number() }).optional() }), 2),
  table: z.record(z.string(), z.number()),
})
const value = { name: 'long name', list: [{ id: 1, more: { at: 2 } }], table: { any: 1 } }

it('accepts what the protocol names, and refuses every other field and value', () => {
  checkStrictly(schema, value, 'it')
  checkStrictly(schema, { ...value, absent: undefined }, 'it')
  expect(() => checkStrictly(schema, { ...value, other: 1 }, 'it')).toThrow('.other')
  const deep = { ...value, list: [{ id: 1, more: { at: 2, other: null } }] }
  expect(() => checkStrictly(schema, deep, 'it')).toThrow('.list.0.more.other')
  expect(() => checkStrictly(schema, { ...value, table: { any: 'x' } }, 'it')).toThrow('table')
})
