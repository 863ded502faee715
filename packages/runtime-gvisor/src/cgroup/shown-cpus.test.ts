import { expect, test } from 'vitest'
import { bootCpus, chooseCpus, parseCpuList } from './shown-cpus.ts'

test('a list of the kernel names each processor', () => {
  expect(parseCpuList('0-2,5,7-8\n')).toEqual([0, 1, 2, 5, 7, 8])
  expect(parseCpuList('')).toEqual([])
})

test('boots that follow each other use different processors', () => {
  const chosen = [1, 1, 1].map((cpus) => chooseCpus('2-4', cpus))
  expect(chosen.toSorted()).toEqual(['2', '3', '4'])
  expect(parseCpuList(chooseCpus('0-3', 3)!)).toHaveLength(3)
})

test('a sandbox as large as the host is not restricted, and neither is one without cpusets', () => {
  expect([chooseCpus('0-1', 2), chooseCpus('0-1', 64)]).toEqual([undefined, undefined])
  expect(bootCpus([{ version: 1, controllers: ['cpu'], root: '/', path: '/x' }], 1)).toBeUndefined()
})
