/** docs/cli.md shows every command, exit code and variable. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { withCommandReference } from '../build/command-reference.ts'
import { exitCodes } from './program/exit-codes.ts'

const folder = new URL('.', import.meta.url).pathname
const document = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')

it('has the commands as they are', () => {
  expect(document, 'run script/dock-reference').toBe(withCommandReference(document))
})

it('has every exit code', () => {
  const shown = [...document.matchAll(/^\| (\d+) \|/gm)].map((match) => Number(match[1]))
  expect(shown).toEqual(Object.values(exitCodes))
})

it('has every variable that the command line reads', () => {
  const sources = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts'], {
    cwd: folder,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => readFileSync(`${folder}/${path}`, 'utf8'))
    .join('\n')
  const read = new Set([
    ...[...sources.matchAll(/\benv\.([A-Z][A-Z_]+)\b/g)].map((match) => match[1]!),
    ...[...sources.matchAll(/\b(DOCK_[A-Z_]+): /g)].map((match) => match[1]!),
  ])
  const shown = [...document.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1]!)
  expect([...read].sort()).toEqual(shown.sort())
})
