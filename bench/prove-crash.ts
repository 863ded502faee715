/**
 * The crash matrix: each lifecycle operation, stopped at each step on its way, before and after, with SIGKILL of the
 * control plane, the agent or the database. Run by script/prove crash.
 *   script/prove crash                  all of it
 *   script/prove crash stop             cases whose name holds the word
 *   script/prove crash --part 1/8       every eighth of them, from the first
 *   script/prove crash --pool 2         with a warm pool
 */
import { parseArgs } from 'node:util'
import { nameOf, runCase } from '../tests/crash/crash-case.ts'
import { allCases, createCrashWorld, endCrashWorld } from '../tests/crash/crash-world.ts'

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { part: { type: 'string', default: '1/1' }, pool: { type: 'string', default: '0' } },
})

const world = await createCrashWorld(Number(values.pool))
const every = await allCases(world)
const wanted = every.filter((crash) => positionals.every((word) => nameOf(crash).includes(word)))
const [part, parts] = values.part.split('/').map(Number) as [number, number]
const cases = wanted.filter((_, index) => index % parts === part - 1)
print(`${every.length} cases, ${cases.length} of them now; log of the server: ${world.logFile}`)

let failed = 0
let slowestMs = 0
for (const [index, crash] of cases.entries()) {
  const { problems, recoveredMs } = await runCase(world, crash, `case-${index}`)
  slowestMs = Math.max(slowestMs, recoveredMs)
  if (problems.length > 0) failed += 1
  print(
    `${problems.length === 0 ? 'ok    ' : 'FAILED'} ${nameOf(crash)} (whole again after ${(recoveredMs / 1000).toFixed(1)} s)`,
  )
  for (const problem of problems) print(`         ${problem}`)
}
print(
  `${cases.length - failed} passed, ${failed} failed; slowest recovery ${(slowestMs / 1000).toFixed(1)} s`,
)
await endCrashWorld(world)
process.exit(failed === 0 ? 0 : 1)
