import { expect, test, vi } from 'vitest'
import { ProcessSizes } from './process-sizes.ts'

const listed = [1, 2, 3, 4].map((pid) => ({ pid, parentPid: pid - 1, name: `p${pid}` }))

test('are not requested again before four times the duration of the last dump has passed', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  const sizes = new ProcessSizes()
  expect(sizes.areTooSoon).toBe(false)
  await sizes.ask({ memory: async () => ({ processes: [], isWhole: true, readMs: 100 }) }, listed, 100)
  clock.mockReturnValue(1_399)
  expect(sizes.areTooSoon).toBe(true)
  clock.mockReturnValue(1_400)
  expect(sizes.areTooSoon).toBe(false)
  clock.mockRestore()
})

test('are not requested again for a second after a dump without an answer, which may go on inside the sentry', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  const sizes = new ProcessSizes()
  const memory = async (): Promise<never> => {
    clock.mockReturnValue(3_000)
    throw new Error('silent')
  }
  await sizes.ask({ memory }, listed, 100)
  clock.mockReturnValue(3_999)
  expect(sizes.areTooSoon).toBe(true)
  clock.mockReturnValue(4_000)
  expect(sizes.areTooSoon).toBe(false)
  clock.mockRestore()
})

test.each([
  {
    what: 'was cut short',
    memory: async () => ({ processes: [{ ...listed[0]!, rssBytes: 40 }], isWhole: false, readMs: 1 }),
    told: [40, 20, 20, 20],
  },
  { what: 'failed', memory: () => Promise.reject(new Error('silent')), told: [25, 25, 25, 25] },
])(
  'that a dump does not tell, because it $what, are equal shares of what is left',
  async ({ memory, told }) => {
    const { processes, isWhole } = await new ProcessSizes().ask({ memory }, listed, 100)
    expect(processes.map(({ rssBytes }) => rssBytes)).toEqual(told)
    expect(isWhole).toBe(false)
  },
)
