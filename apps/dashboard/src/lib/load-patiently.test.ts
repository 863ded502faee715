import { expect, it, vi } from 'vitest'
import { loadPatiently } from './load-patiently.ts'

const failing = (times: number) => {
  const load = vi.fn(async () => 'part')
  for (let n = 0; n < times; n++) load.mockRejectedValueOnce(new TypeError('Failed to fetch'))
  return load
}

it('loads again after each failure', async () => {
  const load = failing(2)
  expect(await loadPatiently(load, [0, 0])).toBe('part')
  expect(load).toHaveBeenCalledTimes(3)
})

it('fails as the last attempt did', async () => {
  const load = failing(9)
  await expect(loadPatiently(load, [0, 0])).rejects.toThrow('Failed to fetch')
  expect(load).toHaveBeenCalledTimes(3)
})
