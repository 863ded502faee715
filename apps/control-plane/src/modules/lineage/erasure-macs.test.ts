import { expect, it } from 'vitest'
import { newRingEntry, parseKeyRing } from '../../sealing/index.ts'
import { createErasureMacs } from './erasure-macs.ts'

const [old, fresh] = [newRingEntry(), newRingEntry()]
const macsOf = (...entries: string[]) => createErasureMacs(parseKeyRing(entries.join(',')))
const ada = { kind: 'person', id: 'ada' } as const

it('accepts only erasures that it signed', () => {
  const macs = macsOf(old)
  const { mac } = macs.signed(ada)
  expect(macs.isOurs({ ...ada, mac })).toBe(true)
  expect(macs.isOurs({ kind: 'organization', id: 'ada', mac })).toBe(false)
  expect(macs.isOurs({ kind: 'person', id: 'bob', mac })).toBe(false)
  for (const other of [undefined, '', mac.slice(1), `${mac}AAAA`, macsOf(fresh).signed(ada).mac])
    expect(macs.isOurs({ ...ada, mac: other })).toBe(false)
})

it('accepts MACs of an older key until that key is removed from the ring', () => {
  const signed = macsOf(old).signed(ada)
  expect(macsOf(fresh, old).isOurs(signed)).toBe(true)
  expect(macsOf(fresh).isOurs(signed)).toBe(false)
  expect(macsOf(fresh).isOurs(macsOf(fresh, old).signed(ada))).toBe(true)
})
