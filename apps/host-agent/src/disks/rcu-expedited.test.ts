import { expect, it, vi } from 'vitest'
import { forbidRcuExpedited, withRcuExpedited } from './rcu-expedited.ts'

const writes = vi.hoisted(() => [] as string[])
vi.mock('node:fs', () => ({ writeFileSync: (_: string, value: string) => writes.push(value) }))

it('is on while at least one user works, and left alone once it is forbidden', async () => {
  const first = Promise.withResolvers<void>()
  const done = withRcuExpedited(() => first.promise)
  await withRcuExpedited(async () => expect(writes).toEqual(['1']))
  expect(writes).toEqual(['1'])
  first.resolve()
  await done
  expect(writes).toEqual(['1', '0'])
  forbidRcuExpedited()
  await withRcuExpedited(async () => undefined)
  expect(writes).toEqual(['1', '0'])
})
