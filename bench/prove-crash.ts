/**
 * The crash matrix: each lifecycle operation, stopped at each step on its way, before and after, with SIGKILL of the
 * control plane, the agent or the database. Run by script/prove crash.
 *   script/prove crash                  all of it
 *   script/prove crash stop             cases whose name holds the word
 *   script/prove crash --sample 20      every so many, so that about 20 are run; --pool 2 with a warm pool
 */
import { parseArgs } from 'node:util'
import { nameOf, runCase } from '../tests/crash/crash-case.ts'
import { allCases, createCrashWorld, endCrashWorld } from '../tests/crash/crash-world.ts'

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string' }, pool: { type: 'string', default: '0' } },
})

const world = await createCrashWorld(Number(values.pool))
const every = await allCases(world)
const wanted = every.filter((crash) => positionals.every((word) => nameOf(crash).includes(word)))
const stride = values.sample ? Math.max(1, Math.floor(wanted.length / Number(values.sample))) : 1
const cases = wanted.filter((_, index) => index % stride === 0)
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
