import { readFileSync } from 'node:fs'
import { limits } from '@dock/contract'
import { expect, it } from 'vitest'
import { defaultPoolSize } from './prepare-pool.ts'

const gibibyte = 2 ** 30
const sizeFor = (freeGiB: number): number | null => {
  const bytes = defaultPoolSize(freeGiB * gibibyte)
  return bytes === null ? null : bytes / gibibyte
}

it('gives a new pool most of the free space', () => {
  expect(sizeFor(100)).toBe(80)
  expect(sizeFor(99.9)).toBe(79)
  expect(sizeFor(4000)).toBe(1024)
})

it('has room for the default disk of a Dock twice, also on a small disk', () => {
  const twice = 2 * limits.diskGiB.default
  expect([10, 24, 49].map(sizeFor)).toEqual([twice, twice, twice])
})

it('refuses a disk that is nearly full', () => {
  expect(sizeFor(9.9)).toBeNull()
})

it('refuses what script/bootstrap refuses before a first start', () => {
  const bootstrap = readFileSync(new URL('../../../../script/bootstrap', import.meta.url), 'utf8')
  const neededGiB = Number(/pool\.img \]\]; then needed=(\d+)/.exec(bootstrap)?.[1]) / 1024
  expect([neededGiB, neededGiB - 0.01].map(sizeFor)).toEqual([expect.any(Number), null])
})
