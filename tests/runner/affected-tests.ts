/**
 * Prints the files of the quick tests that a change affects, nearest first: `affected-tests.ts BASE`. A test file is affected
 * if it imports a changed file, directly or not, if it names one, or if it lies beside one that no test imports, such as a
 * migration. The tests of the repository read every file, so they always count. Files whose tests would take more than
 * `budgetMs` in all are left out, those farthest from the change first, and their number goes to the error output.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { createVitest, type TestSpecification } from 'vitest/node'

/** Two files run at a time, so this is about two minutes. */
const budgetMs = 220_000
/** For a file that has not run in this checkout. */
const unknownMs = 1_000
/** To load the modules of a file. */
const loadMs = 300

const root = resolve(import.meta.dirname, '../..')
const [base] = process.argv.slice(2)
if (base === undefined) throw new Error('usage: affected-tests.ts BASE')

const git = (...args: string[]): string[] =>
  execFileSync('git', [...args, '-z'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter(Boolean)
const changed = [
  ...new Set([
    ...git('diff', '--name-only', '--no-renames', base),
    ...git('ls-files', '--others', '--exclude-standard'),
  ]),
]

/** Returns the number of folders that two paths have in common. */
const commonFolders = (one: string, other: string): number => {
  const [a, b] = [dirname(one).split('/'), dirname(other).split('/')]
  const different = a.findIndex((folder, depth) => folder !== b[depth])
  return different === -1 ? a.length : different
}
/** Orders test files by their distance from the change: a file beside a changed one comes first. */
const distance = (file: string): number =>
  Math.min(
    ...changed.map(
      (each) =>
        dirname(file).split('/').length - 2 * commonFolders(file, each) + dirname(each).split('/').length,
    ),
  )

const vitest = await createVitest('test', {
  root,
  watch: false,
  project: ['unit', 'own-process', 'control-plane', 'api'],
  related: changed.map((path) => join(root, path)),
  // Everything imports the settings of packages and of vitest.
  forceRerunTriggers: [],
})
const every = await vitest.globTestSpecifications()
const importing = new Set((await vitest.getRelevantTestSpecifications()).map(({ moduleId }) => moduleId))

/** Returns the last two parts of a path, by which tests name the scripts and programs that they start. */
const nameOf = (path: string): string => join(basename(dirname(path)), basename(path))
const names = changed.filter((path) => path.includes('/')).map(nameOf)
/** Folders of changed files that no test can import. */
const folders = new Set(
  changed
    .filter((path) => !/\.(m|c)?tsx?$/.test(path))
    .flatMap((path) => [dirname(path), dirname(dirname(path))]),
)
const isAffected = ({ moduleId }: TestSpecification): boolean => {
  const file = relative(root, moduleId)
  if (importing.has(moduleId) || file.startsWith('tests/repository/') || folders.has(dirname(file)))
    return true
  const text = readFileSync(moduleId, 'utf8')
  return names.some((name) => text.includes(name))
}
const affected = every
  .filter((specification) => existsSync(specification.moduleId) && isAffected(specification))
  .map((specification) => ({
    file: relative(root, specification.moduleId),
    tookMs: loadMs + (vitest.cache.getTestSpecificationResult(specification)?.duration ?? unknownMs),
  }))
  .map((each) => ({ ...each, distance: each.file.startsWith('tests/repository/') ? 0 : distance(each.file) }))
  .sort((a, b) => a.distance - b.distance)
await vitest.close()

let leftMs = budgetMs
const chosen = affected.filter(({ tookMs }) => {
  leftMs -= tookMs
  return leftMs > 0
})
process.stderr.write(
  `${changed.length} files changed since ${base.slice(0, 12)}; ${affected.length} of ${every.length} test files are affected\n`,
)
if (chosen.length < affected.length)
  process.stderr.write(
    `The ${chosen.length} nearest are run: the others do not fit into three minutes. script/test runs all.\n`,
  )
process.stdout.write(chosen.map(({ file }) => `${file}\n`).join(''))
