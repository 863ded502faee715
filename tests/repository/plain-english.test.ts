/**
 * Plain English: a short list of words and phrases that a reader must read twice, and what to write instead. They are
 * refused in every program, script and document. The list is short on purpose: it holds what the project had to unlearn.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** `instead` completes the sentence "write …". */
const refused: readonly { phrase: RegExp; instead: string }[] = [
  {
    phrase: /\b(?:Answers|answers|answering) (?:a|an|the|whether|what|null|undefined|true|false|with)\b/,
    instead: '"returns" (a function) or "responds with" (a server)',
  },
  { phrase: /\banew\b/i, instead: '"again", or name what is new' },
  { phrase: /\bwhoever\b/i, instead: 'the subject: "a user who …", "any process that …"' },
  { phrase: /\bof no account\b/i, instead: '"is ignored", and why' },
  { phrase: /\bmany an? (?!few|more|lot)/i, instead: '"many", with the plural' },
  { phrase: /\bgiv(?:e|es|en|ing) way\b|\bgave way\b/i, instead: '"yields", or what is freed or stopped' },
  { phrase: /\bfarewell\b/i, instead: '"shutdown" or "end"' },
  { phrase: /\b(?:is|are|was|were|be|been) told of\b/i, instead: 'who reports what to whom' },
  { phrase: /\bone whose\b|\bthose whose\b/i, instead: 'the noun: "a Dock whose …"' },
  { phrase: /\bit may be that\b/i, instead: '"may": "the database may know less"' },
  { phrase: /\bnothing of (?:it|them)\b/i, instead: 'what is absent: "reads no byte", "leaves no file"' },
  { phrase: /\ba thing of\b/i, instead: 'what it belongs to' },
  { phrase: /\btakes? the place of\b/i, instead: '"replaces"' },
  { phrase: /\bbut for (?:the|its|their|an?)\b/i, instead: '"except"' },
  { phrase: /\bat present\b/i, instead: '"now", or leave it out' },
  { phrase: /, of which\b/i, instead: '"whose", or a second sentence' },
  { phrase: /\bfor ever\b/i, instead: '"forever", or until when' },
  { phrase: /\bof before\b/i, instead: '"earlier" or "previous"' },
  {
    phrase: /\bby and by\b|\bere long\b|\bhenceforth\b|\bthereupon\b|\bwherein\b|\bwhereof\b/i,
    instead: 'a modern word',
  },
]

/** The database compares the checksums of applied migrations, so even a comment in these can never change. */
const lastUneditable = 48
const isUneditable = (path: string): boolean => {
  const number = /\/migrations\/(\d+)_[^/]*\.sql$/.exec(path)?.[1]
  return number !== undefined && Number(number) <= lastUneditable
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const self = 'tests/repository/plain-english.test.ts'
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
const isProse = (path: string): boolean =>
  /\.(ts|sh|sql|md)$/.test(path) || /^(script|images)\/(?:[^.]+\/)*[^/.]+$/.test(path)
const isChecked = (path: string): boolean =>
  isProse(path) && path !== self && !isUneditable(path) && existsSync(join(root, path))

/** Stands for the line break and the comment sign where a comment wraps. Keeps the text's length, and so its lines. */
const wrap = '\u00ad'

/** Lists `line: the phrase, what to write` of a text. */
const findRefused = (text: string): string[] => {
  const joined = text.replace(
    /\n[ \t]*(?:\*|\/\/|#|--)[ \t]/g,
    (found) => ` ${wrap.repeat(found.length - 1)}`,
  )
  return refused.flatMap(({ phrase, instead }) =>
    [...joined.matchAll(new RegExp(phrase.source.replaceAll(' ', ` ${wrap}*`), `g${phrase.flags}`))].map(
      (match) => {
        const line = text.slice(0, match.index).split('\n').length
        return `${line}: "${match[0].replaceAll(wrap, '')}": write ${instead}`
      },
    ),
  )
}

it('notices a refused phrase, also where a comment wraps', () => {
  const text = `const a = 1
/**
 * A sandbox that is short of memory gives
 * way to others. Answers the rest.
 */
// Whoever reads this
const farewell = 'x'`
  expect(findRefused(text).map((found) => found.split(': write')[0])).toEqual([
    '4: "Answers the"',
    '6: "Whoever"',
    '3: "gives way"',
    '7: "farewell"',
  ])
})

it('is what programs, scripts and documents are written in', () => {
  const found = tracked
    .filter(isChecked)
    .flatMap((path) => findRefused(readFileSync(join(root, path), 'utf8')).map((place) => `${path}:${place}`))
  expect(found).toEqual([])
})
