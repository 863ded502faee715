/**
 * Exported functions are declarations: `export function name`, never `export const name = () => …`. A declaration is
 * found by searching for `function name`, can be used above its definition, and reads the same everywhere.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const programs = execFileSync('git', ['ls-files', '*.ts'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((path) => existsSync(join(root, path)))

/** Returns the position behind the bracket that closes the one at `open`. */
const findClosing = (code: string, open: number): number => {
  let depth = 0
  for (let at = open; at < code.length; at += 1) {
    if (code[at] === '(') depth += 1
    if (code[at] === ')') depth -= 1
    if (depth === 0) return at + 1
  }
  return code.length
}

/** True if `code`, which has no types, is an arrow function or a function expression. */
const isFunction = (code: string): boolean => {
  const start = code.replace(/^async\b\s*/, '')
  if (/^(function\b|[\w$]+\s*=>)/.test(start)) return true
  if (!start.startsWith('(')) return false
  return /^\s*=>/.test(start.slice(findClosing(start, 0))) || isFunction(start.slice(1).trimStart())
}

/** Lists `line: name` of the exported constants of a program that are functions. */
const findExportedConstants = (source: string): string[] => {
  const code = stripTypeScriptTypes(source)
  const exportedLater = new Set(
    [...code.matchAll(/^export \{([^}]*)\}\s*;?$/gm)].flatMap((list) =>
      list[1]!.split(',').map((name) => name.trim().split(/\s+as\s+/)[0]!),
    ),
  )
  return [...code.matchAll(/^(export\s+)?(?:const|let|var)\s+([\w$]+)\s*=\s*/gm)]
    .filter(([, isExported, name]) => isExported !== undefined || exportedLater.has(name!))
    .filter((match) => isFunction(code.slice(match.index + match[0].length)))
    .map((match) => `${code.slice(0, match.index).split('\n').length}: ${match[2]}`)
}

it('notices constants that are functions, whatever their form and type', () => {
  const source = [
    'export const one = (): void => undefined',
    'export const two: (a: (b: number) => string) => string = async (a) => a(1)',
    'export const three = function named() {}',
    'export let four = async x => x',
    'const five = (a = (1 + 2)) => a',
    'export { five as renamed }',
    'export const six = ((a: number) => a) satisfies unknown',
    'export const seven = (1 + 2) * 3, list = [(a: number) => a]',
    'const local = () => undefined',
    'export const built = create(() => local)',
    'export function eight(): void {}',
  ].join('\n')
  expect(findExportedConstants(source)).toEqual([
    '1: one',
    '2: two',
    '3: three',
    '4: four',
    '5: five',
    '7: six',
  ])
})

it('are declarations in every program', () => {
  const found = programs.flatMap((path) =>
    findExportedConstants(readFileSync(join(root, path), 'utf8')).map(
      (place) => `${path}:${place}: write \`export function\``,
    ),
  )
  expect(found).toEqual([])
})
