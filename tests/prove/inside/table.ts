/** The table of what runs, between two markers of its document. */
import { type Outcome, type Runtime, runtimes } from './try-things.ts'

export type Table = Map<string, Record<Runtime, Outcome>>

const begin = '<!-- written by script/prove what-runs -->'
const end = '<!-- end of what script/prove what-runs wrote -->'
const words: Record<Outcome, string> = { works: 'yes', fails: '**no**', missing: 'not tried here' }

const between = (text: string): [number, number] => {
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from === -1 || to < from) throw new Error(`the document lacks the markers ${begin} and ${end}`)
  return [from + begin.length, to]
}

/** Returns the rows of the document's table. */
export function readTable(text: string): Table {
  const outcomes = Object.entries(words) as [Outcome, string][]
  const outcomeOf = (word = ''): Outcome =>
    outcomes.find(([, each]) => each === word.trim())?.[0] ?? 'missing'
  const table: Table = new Map()
  for (const line of text.slice(...between(text)).split('\n')) {
    const [, name = '', gvisor, microvm] = line.split('|')
    table.set(name.trim(), { gvisor: outcomeOf(gvisor), microvm: outcomeOf(microvm) })
  }
  return table
}

/** Returns the document with these rows, in this order. */
export function writeTable(text: string, names: readonly string[], table: Table): string {
  const rows = names.flatMap((name) => {
    const row = table.get(name)
    return row ? [`| ${name} | ${runtimes.map((runtime) => words[row[runtime]]).join(' | ')} |`] : []
  })
  const [from, to] = between(text)
  const lines = ['', '| In a Dock on | gVisor | a microVM |', '|---|---|---|', ...rows, '']
  return `${text.slice(0, from)}${lines.join('\n')}${text.slice(to)}`
}
