import { expect, it } from 'vitest'
import { parsePlans } from './plan-file.ts'

const plan = {
  name: 'team',
  concurrentDocks: 10,
  concurrentFastRuns: null,
  monthlyBudget: 50_000_000,
  prices: { vcpuSecond: '13.888889', memoryGiBSecond: '1.4', diskGiBMonth: 100_000, snapshotGiBMonth: 0 },
}
const parse = (over: object, more: object[] = []) =>
  parsePlans(JSON.stringify({ currency: 'EUR', plans: [{ ...plan, ...over }, ...more] }))

it('keeps prices exactly', () => {
  expect(parse({}).plans[0]?.prices).toEqual({
    vcpuSecond: '13.888889',
    memoryGiBSecond: '1.4',
    diskGiBMonth: '100000',
    snapshotGiBMonth: '0',
  })
})

it.each([
  [{ concurrentDocks: -1 }, 'plans[0].concurrentDocks'],
  [{ monthlyBudget: 0.5 }, 'plans[0].monthlyBudget'],
  [{ monthlyBudget: undefined }, 'plans[0].monthlyBudget'],
  [{ name: 'Team' }, 'plans[0].name'],
  [{ prices: { ...plan.prices, vcpuSecond: 1.5 } }, 'plans[0].prices.vcpuSecond'],
  [{ prices: { ...plan.prices, vcpuSecond: '1.1234567' } }, 'plans[0].prices.vcpuSecond'],
  // What the database cannot store, or what costs more a day than it can add up.
  [{ prices: { ...plan.prices, diskGiBMonth: 100_000_000_000_000 } }, 'plans[0].prices.diskGiBMonth'],
  [{ prices: { ...plan.prices, vcpuSecond: 10_000_000_000 } }, 'plans[0].prices.vcpuSecond'],
  [{ prices: { ...plan.prices, memoryGiBSecond: '10000000000.0' } }, 'plans[0].prices.memoryGiBSecond'],
  [{ prices: { ...plan.prices, vcpuSecond: '-1' } }, 'plans[0].prices.vcpuSecond'],
])('names the field that is wrong in %o', (over, field) => {
  expect(() => parse(over)).toThrow(`plans: ${field}: `)
})

it('refuses unknown fields, two plans of one name, other currencies and text that is not JSON', () => {
  expect(() => parse({ color: 'red' })).toThrow('plans: plans[0]: ')
  expect(() => parse({}, [plan])).toThrow('plans: plans[1].name: team is used twice')
  expect(() => parsePlans('{"currency":"euro","plans":[]}')).toThrow('plans: currency: must be three')
  expect(() => parsePlans('plans')).toThrow('plans: not valid JSON')
})
