/**
 * The crash matrix: each lifecycle operation is paused at each of its fault points, and the control plane, the agent or
 * the database is killed there with SIGKILL. Run by script/prove crash.
 *   script/prove crash                  all cases
 *   script/prove crash stop             cases whose name contains the word
 *   script/prove crash --part 1/8       every eighth case, from the first
 *   script/prove crash --pool 2         with a warm pool
 *   script/prove crash --record FILE --seconds 120 --data DIR
 *                                       starts no case after 120 s, and continues where the record in FILE ends; keeps
 *                                       the data folder, so that the next start is quick
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { cleanUp, nameOf, runCase } from '../crash/crash-case.ts'
import { casesOf, createCrashWorld, endCrashWorld, placesOf } from '../crash/crash-world.ts'
import { type Operation, operations } from '../crash/lifecycle.ts'

type Entry = { name: string; problems: string[]; recoveredMs: number }
/** A line of the record: a result, or the fault points of an operation. */
type Line = Entry | { operation: Operation; places: string[] }

const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    part: { type: 'string', default: '1/1' },
    pool: { type: 'string', default: '0' },
    record: { type: 'string' },
    data: { type: 'string' },
    seconds: { type: 'string', default: 'Infinity' },
  },
})
const timeUp = Date.now() + Number(values.seconds) * 1000

/** The last result of each case that was run, by name. */
const done = new Map<string, Entry>()
/** The known fault points of each operation. */
const places = new Map<Operation, string[]>()
if (values.record && existsSync(values.record))
  for (const text of readFileSync(values.record, 'utf8').split('\n').filter(Boolean)) {
    const line = JSON.parse(text) as Line
    if ('name' in line) done.set(line.name, line)
    else places.set(line.operation, line.places)
  }
const note = (line: Line): void => {
  if (values.record) appendFileSync(values.record, `${JSON.stringify(line)}\n`)
}

const world = await createCrashWorld(Number(values.pool), values.data)
for (const operation of operations) {
  if (places.has(operation)) continue
  const found = await placesOf(world, operation)
  places.set(operation, found)
  note({ operation, places: found })
}
const every = casesOf(places)
const wanted = every.filter((crash) => positionals.every((word) => nameOf(crash).includes(word)))
const [part, parts] = values.part.split('/').map(Number) as [number, number]
const mine = wanted.filter((_, index) => index % parts === part - 1)
const cases = mine.filter((crash) => done.get(nameOf(crash))?.problems.length !== 0)
print(`${every.length} cases, ${cases.length} of them now; log of the server: ${world.logFile}`)

// A kept data folder has names and keys of earlier runs, so each run needs new ones.
const run = Date.now().toString(36)
for (const [index, crash] of cases.entries()) {
  if (Date.now() > timeUp) break
  const { problems, recoveredMs } = await runCase(world, crash, `case-${run}-${index}`)
  const entry = { name: nameOf(crash), problems, recoveredMs }
  done.set(entry.name, entry)
  note(entry)
  const verdict = problems.length === 0 ? 'ok    ' : 'FAILED'
  print(`${verdict} ${entry.name} (recovered after ${seconds(recoveredMs)})`)
  for (const problem of problems) print(`         ${problem}`)
  // If the cleanup fails, all later cases would fail too.
  if (problems.length > 0 && (await cleanUp(world)).length > 0) break
}
const results = mine.flatMap((crash) => done.get(nameOf(crash)) ?? [])
const failed = results.filter(({ problems }) => problems.length > 0).length
const slowestMs = Math.max(0, ...results.map(({ recoveredMs }) => recoveredMs))
const left = mine.length - results.length
print(
  `${results.length - failed} passed, ${failed} failed, ${left} not run; slowest recovery ${seconds(slowestMs)}`,
)
await endCrashWorld(world, values.data)
process.exit(failed === 0 && left === 0 ? 0 : 1)
