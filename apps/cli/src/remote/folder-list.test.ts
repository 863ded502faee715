import { expect, it } from 'vitest'
import { changedPaths, isExcluded, isInside } from './folder-list.ts'

it('refuses paths of a Dock that lead out of the folder', () => {
  for (const path of ['a', 'a/b', '...', 'a b']) expect(isInside(path), path).toBe(true)
  for (const path of ['', '/', '/a', 'a//b', '../a', 'a/../b', 'a/..', './a'])
    expect(isInside(path), path).toBe(false)
})

it('finds what is missing, has another size, or is newer', () => {
  const facts = (size: number, modified: number) => ({ size, modified, mode: 0o644 })
  const source = new Map([
    ['new', facts(1, 1)],
    ['same', facts(1, 5)],
    ['size', facts(2, 5)],
    ['newer', facts(1, 9)],
  ])
  const target = new Map([
    ['same', facts(1, 6)],
    ['size', facts(1, 6)],
    ['newer', facts(1, 6)],
    ['extra', facts(1, 1)],
  ])
  expect(changedPaths(source, target)).toEqual(['new', 'size', 'newer'])
  expect([isExcluded('a/node_modules/b', ['node_modules']), isExcluded('a/b', ['node_modules'])]).toEqual([
    true,
    false,
  ])
})
