/** The documents: their links and the names in their code spans lead to things that exist. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((path) => existsSync(join(root, path)))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const documents = files.filter((path) => path.endsWith('.md'))

it('have links that lead to files', () => {
  const broken = documents.flatMap((path) =>
    [...read(path).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map((match) => match[1]!)
      .filter((target) => !existsSync(join(root, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  )
  expect(broken).toEqual([])
})

describe('decisions', () => {
  const pages = files.filter((path) => /^docs\/decisions\/\d/.test(path))
  const numbers = new Set(pages.map((path) => Number(/\/(\d+)-/.exec(path)![1])))
  /** Comments of migrations name the earlier numbers: the database keeps their checksums, so they can never change. */
  const isProse = (path: string): boolean =>
    /\.(ts|tsx|mjs|cjs|pl|sh|py|md|sql)$/.test(path) &&
    !path.includes('/migrations/') &&
    path !== 'docs/map-of-moves.md'
  const referencesTo = (text: string): number[] =>
    [...text.matchAll(/\bdecisions?[\s*#/]+\[?(\d{3})\b/gi)].map((match) => Number(match[1]))

  it('are found by their numbers, wherever a file refers to one', () => {
    const broken = files
      .filter((path) => isProse(path) || path.startsWith('script/'))
      .flatMap((path) =>
        referencesTo(read(path))
          .filter((number) => !numbers.has(number))
          .map((number) => `${path}: decision ${number}`),
      )
    expect(broken).toEqual([])
    expect(referencesTo('(decision 001), [decisions 002](x), Decision\n * 999')).toEqual([1, 2, 999])
  })

  it('are all in the index, each with its title', () => {
    const index = read('docs/decisions/README.md')
    const lines = pages.map((path) => `- [${/^# (.*)$/m.exec(read(path))![1]}](${path.split('/').at(-1)})`)
    expect(lines.filter((line) => !index.includes(line))).toEqual([])
  })

  it('have at most 300 words each', () => {
    const long = pages.filter((path) => read(path).trim().split(/\s+/).length > 300)
    expect(long).toEqual([])
  })
})

const topFolders = new Set(files.filter((path) => path.includes('/')).map((path) => path.split('/')[0]!))
/** Folders that documents name without the path that leads to them. */
const shortFolders = new Set(['modules', 'gateways'])
/** Every file and folder, and each end of its path: documents shorten long paths from the left. */
const pathEnds = new Set(
  files.flatMap((path) => {
    const parts = path.split('/')
    return parts.flatMap((_, end) =>
      Array.from({ length: end + 1 }, (__, begin) => parts.slice(begin, end + 1).join('/')),
    )
  }),
)
const sourceFile = /^[\w.-]+(\/[\w.-]+)*\.(ts|mjs|cjs|js|sql|sh|py|pl)$/
const pathWithFolders = /^[\w.-]+(\/[\w.-]+)+\/?$/
/** `NNN_name.sql` and `packages/runtime-NAME` show a form. */
const placeholder = /(^|[/_-])[A-Z]{2,}/

/** Returns true if a code span is the name of a source file, or a path into a folder of the repository. */
const isRepositoryName = (span: string): boolean => {
  if (placeholder.test(span)) return false
  if (sourceFile.test(span)) return true
  const first = span.split('/')[0]!
  return pathWithFolders.test(span) && (topFolders.has(first) || shortFolders.has(first))
}

/** Returns the file of `script/prove NAME` and `script/bench NAME`, or the span itself. */
const fileOf = (span: string): string => {
  const [, kind, name] = /^script\/(prove|bench) ([a-z0-9-]+)/.exec(span) ?? []
  if (kind === undefined) return span.split(' ')[0]!
  return `${kind === 'prove' ? 'tests/prove' : 'bench'}/${name}.ts`
}

/** Returns the code spans of a text that name a file or folder which the repository does not have. */
function missingNames(text: string): string[] {
  return codeSpans(text).filter((span) => {
    const name = fileOf(span)
    return isRepositoryName(name) && !pathEnds.has(name.replace(/\/$/, ''))
  })
}

const codeSpans = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!)

const sources = files
  .filter((path) => !path.endsWith('.md') && statSync(join(root, path)).size < 1024 * 1024)
  .map(read)
  .join('\n')
const identifiers = new Set(sources.match(/\w+/g))

/** Returns the code spans of a text that look like a function or type of ours and occur in no source. */
function missingIdentifiers(text: string): string[] {
  return codeSpans(text).filter((span) => {
    const name = /^(\w*[a-z0-9][A-Z]\w*)(\(.*\))?$/.exec(span)?.[1]
    return name !== undefined && !identifiers.has(name)
  })
}

/** The map of moves names the earlier paths. */
const inDocuments = (find: (text: string) => string[]): string[] =>
  documents
    .filter((path) => path !== 'docs/map-of-moves.md')
    .flatMap((path) => find(read(path)).map((name) => `${path}: ${name}`))

describe('the names in code spans', () => {
  it('are files and folders of the repository', () => {
    expect(inDocuments(missingNames)).toEqual([])
  })

  it('are functions and types of the sources', () => {
    expect(inDocuments(missingIdentifiers)).toEqual([])
  })

  it.each([
    ['`placement.test.ts`, `modules/connectors`, `script/test quick`, `script/prove crash`', []],
    ['`no-such-place.test.ts`', ['no-such-place.test.ts']],
    ['`docks/core/placement.ts`', ['docks/core/placement.ts']],
    ['`modules/no-such-module`', ['modules/no-such-module']],
    ['`apps/no-such-app`', ['apps/no-such-app']],
    ['`script/no-such-script now`', ['script/no-such-script now']],
    ['`script/prove no-such-proof`', ['script/prove no-such-proof']],
    ['`script/bench NAME`, `NNN_name.sql`, `control/keys/secret-keys`, `/run/dock`, `GET /v1/me`', []],
  ])('of files are checked: %s', (text, missing) => {
    expect(missingNames(text)).toEqual(missing)
  })

  it('of functions are checked', () => {
    const missing = ['no', 'SuchFunction'].join('')
    expect(missingIdentifiers(`\`commitDock\`, \`ServiceError(code)\`, \`${missing}\`, \`plain\``)).toEqual([
      missing,
    ])
  })
})
