import { expect, it } from 'vitest'
import { findFilesFault, normalizeFilePath, requireApplicableFiles } from './secret-file-path.ts'

it('gives each file one path', () => {
  expect(['a', './a', 'a//b', 'a/./b', './/.'].map(normalizeFilePath)).toEqual(['a', 'a', 'a/b', 'a/b', ''])
})

it.each([
  [['.'], '. does not name a file, and goes with the next change of the Environment.'],
  [['x'.repeat(256)], 'has a name of more than 255 bytes.'],
  [['a/'.concat('é'.repeat(128))], 'has a name of more than 255 bytes.'],
  [['x', './x'], './x is the same file as x.'],
  [['a', './a/b'], 'a cannot be both a file and the folder of ./a/b.'],
  [['a/b/c', 'a'], 'a cannot be both a file and the folder of a/b/c.'],
])('finds what no Dock can take: %s', (paths, fault) => {
  expect(findFilesFault(paths)).toContain(fault)
  expect(() => requireApplicableFiles(paths)).toThrow(fault)
})

it('accepts files that Docks can take, also under paths that were saved before', () => {
  expect(findFilesFault(['a', './b', 'c/d', 'c//e', 'x'.repeat(255)])).toBeNull()
})
