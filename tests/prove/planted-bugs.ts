/**
 * script/prove planted-bugs: tests the tests. Known bugs are planted, one at a time, into a copy of the source
 * made of hard links. The test named with each bug must fail. Without a bug, the tests must pass on the copy.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { plantedBugs as bugs, type Catcher } from './planted/bugs.ts'

const root = join(import.meta.dirname, '../..')

/** Copies the source, without generated files. */
const copySource = (): string => {
  mkdirSync(join(root, '.tools'), { recursive: true })
  const copy = mkdtempSync(join(root, '.tools', 'planted-'))
  const entries = readdirSync(root).filter((name) => !name.startsWith('.') || name === '.npmrc')
  execFileSync('cp', ['-al', ...entries.map((name) => join(root, name)), copy])
  return copy
}

/** Replaces the file with a new one, because writing through a hard link would change the original. */
const replaceFile = (path: string, content: string): void => {
  unlinkSync(path)
  writeFileSync(path, content)
}

type Report = {
  testResults: { assertionResults: { title: string; status: string; failureMessages: string[] }[] }[]
}

/** Runs the test. Returns the first line of its failure in `why`. Throws if the test does not exist. */
const runTest = (copy: string, { file, test }: Catcher): { passed: boolean; why: string } => {
  const output = join(copy, 'report.json')
  rmSync(output, { force: true })
  const args = ['run', file, '-t', test, '--reporter=json', `--outputFile=${output}`]
  spawnSync(process.execPath, [join(copy, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: copy,
    env: { ...process.env, DOCK_MODEL_RUNS: '100', DOCK_MODEL_SHRINK: 'off' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const report = JSON.parse(readFileSync(output, 'utf8')) as Report
  const results = report.testResults.flatMap((each) => each.assertionResults)
  const found = results.find((each) => each.title === test && each.status !== 'skipped')
  if (!found) throw new Error(`${file} has no test "${test}"`)
  return { passed: found.status === 'passed', why: (found.failureMessages[0] ?? '').split('\n')[0] ?? '' }
}

const copy = copySource()
let wrong = 0
const say = (ok: boolean, line: string): void => {
  if (!ok) wrong += 1
  process.stdout.write(`${ok ? 'ok    ' : 'NOT OK'} ${line}\n`)
}
try {
  for (const catcher of new Set(bugs.map((bug) => bug.caughtBy)))
    say(runTest(copy, catcher).passed, `passes without a bug: ${catcher.file}: ${catcher.test}`)
  for (const { title, file, right, wrong: planted, caughtBy } of bugs) {
    const path = join(copy, file)
    const source = readFileSync(path, 'utf8')
    if (source.split(right).length !== 2) throw new Error(`${file} must contain exactly once: ${right}`)
    replaceFile(
      path,
      source.replace(right, () => planted),
    )
    const { passed, why } = runTest(copy, caughtBy)
    replaceFile(path, source)
    say(!passed, `${title}: ${passed ? 'not caught' : `caught by ${caughtBy.file}: ${why}`}`)
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
process.exitCode = wrong === 0 ? 0 : 1
