import { expect, it } from 'vitest'
import { ttlSecondsOf, ttlTextOf } from './ttl.ts'

it.each([null, 60, 90, 3600, 5400, 86_400, 2_592_000])('%j seconds come back', (seconds) => {
  expect(ttlSecondsOf(ttlTextOf(seconds))).toBe(seconds)
})

it('takes the largest unit without a rest', () => {
  expect(ttlTextOf(7200)).toEqual({ amount: '2', unit: 'hours' })
  expect(ttlTextOf(5400)).toEqual({ amount: '90', unit: 'minutes' })
})
