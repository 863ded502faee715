import { expect, it } from 'vitest'
import { PendingFolders, TooManyFolders } from './pending-folders.ts'

const takeAll = (pending: PendingFolders) => {
  const taken = []
  for (let next = pending.take(); next; next = pending.take()) taken.push(next)
  return taken
}

it('returns every folder once, the newest first', () => {
  const pending = new PendingFolders()
  const names = Array.from({ length: 300 }, (_, index) => `é${'n'.repeat(index % 250)}${index}`)
  names.forEach((name, index) => void pending.add('', name, index + 1))
  expect(pending.take()).toEqual({ path: `/${names.at(-1)}`, inode: 300 })
  pending.add('/other', 'deep', 4_000_000_000)
  expect(takeAll(pending)).toEqual([
    { path: '/other/deep', inode: 4_000_000_000 },
    ...names
      .slice(0, -1)
      .map((name, index) => ({ path: `/${name}`, inode: index + 1 }))
      .reverse(),
  ])
  expect(pending.take()).toBeNull()
})

it('refuses more folders than fit, and has room again for what was taken', () => {
  const pending = new PendingFolders(10_000)
  const fill = () => {
    for (let index = 1; index <= 1_000; index++) pending.add('/a', `folder-${index}`, index)
  }
  expect(fill).toThrow(TooManyFolders)
  takeAll(pending)
  for (let round = 0; round < 100; round++) {
    for (let index = 1; index <= 300; index++) pending.add(`/b${round}`, `folder-${index}`, index)
    expect(takeAll(pending)).toHaveLength(300)
  }
})
