/**
 * Statements name the columns that they return. A prepared statement with a star at its top fails on its connection for good
 * once another process has added a column ("cached plan must not change result type").
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from '@swc/core'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

type Node = { type?: string; [key: string]: unknown }
type Quasi = { cooked?: string; raw: string }

/** Calls `visit` with the node and everything in it. */
const walk = (node: unknown, visit: (node: Node) => void): void => {
  if (Array.isArray(node)) for (const item of node) walk(item, visit)
  else if (typeof node === 'object' && node !== null) {
    visit(node as Node)
    for (const child of Object.values(node)) walk(child, visit)
  }
}

/** Removes all that is in parentheses: subqueries, common table expressions and arguments. */
const topOf = (text: string): string => {
  let depth = 0
  let top = ''
  for (const character of text) {
    if (character === ')') depth -= 1
    if (depth === 0) top += character
    if (character === '(') depth += 1
  }
  return top
}

const star = /(?:^|\bselect\s|\breturning\s|\bdistinct\s|,)\s*(?:"?\w+"?\s*\.\s*)?\*\s*(?=$|,|\)|\bfrom\b)/i

/** Parsing takes long, and few sources have anything like a star. */
const mayHaveStar =
  /selectAll|returningAll|(?:\bselect|\breturning|\bdistinct|,|[`'"])\s*(?:"?\w+"?\s*\.\s*)?\*/i

/** Returns the texts of a source with a star at their top, and calls of the query builder that make one. */
function findStars(source: string): string[] {
  if (!mayHaveStar.test(source)) return []
  const found: string[] = []
  walk(parseSync(source, { syntax: 'typescript' }), (node) => {
    if (node.type === 'TemplateLiteral') {
      // Values and fragments stand between the texts. Each fragment is a template of its own.
      const text = (node.quasis as Quasi[]).map(({ cooked, raw }) => cooked ?? raw).join(' $ ')
      if (star.test(topOf(text))) found.push(text.trim())
    } else if (node.type === 'StringLiteral') {
      const text = node.value as string
      if (/^\s*(select|insert|update|delete|with)\b/i.test(text) && star.test(topOf(text))) found.push(text)
    } else if (node.type === 'MemberExpression') {
      const { value } = node.property as { value?: unknown }
      if (value === 'selectAll' || value === 'returningAll') found.push(String(value))
    }
  })
  return found
}

it('name the columns that they return', () => {
  const sources = join(root, 'apps/control-plane/src')
  const files = globSync('**/*.ts', { cwd: sources }).filter((file) => !file.endsWith('.test.ts'))
  const found = files.flatMap((file) =>
    findStars(readFileSync(join(sources, file), 'utf8')).map((text) => `${file}: ${text}`),
  )
  expect(found).toEqual([])
})

describe('the search', () => {
  it.each([
    ['a select', 'sql`select * from docks`'],
    ['a table of several', 'sql`select d.id, h.* from docks d`'],
    ['a returning', 'sql`delete from docks where id = @{id} returning *`'],
    ['the last part of a statement', 'sql`with a as (select 1) select a.*, 1 as b from a`'],
    ['a list of columns', 'const columns = sql`i.*, 1 as one`'],
    ['the query builder', "db.selectFrom('docks').selectAll()"],
    ['the query builder after a change', "db.deleteFrom('docks').returningAll()"],
    ['text that is no template', "client.query('select * from docks')"],
  ])('finds %s', (_, source) => {
    // The samples write `@{` where a source has `${`.
    expect(findStars(source.replaceAll('@{', '${'))).toHaveLength(1)
  })

  it.each([
    ['a subquery', 'sql`select id from (select * from docks) as d`'],
    [
      'a common table expression',
      'sql`with moved as (update docks set x = 1 returning *) select id from moved`',
    ],
    ['a part of a statement', 'sql`born as (insert into docks select 1 returning *)`'],
    ['a count', 'sql`select count(*), 2 * 3 as six from docks`'],
    ['a product', 'sql`select cpus * 2 as twice from docks`'],
  ])('ignores %s', (_, source) => {
    expect(findStars(source)).toEqual([])
  })
})
