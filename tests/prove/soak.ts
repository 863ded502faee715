/**
 * Runs random operations and random kills. Run by script/prove soak.
 *   script/prove soak --minutes 10 --seed 7 --people 3 --pool 2
 */
import { parseArgs } from 'node:util'
import { createCrashWorld, endCrashWorld } from '../crash/crash-world.ts'
import { soak } from '../crash/soak.ts'

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    people: { type: 'string', default: '3' },
    pool: { type: 'string', default: '2' },
  },
})
const world = await createCrashWorld(Number(values.pool))
print(`seed ${values.seed}, ${values.minutes} minutes; log of the server: ${world.logFile}`)
const { operations, refused, kills, problems } = await soak(world, {
  seed: Number(values.seed),
  durationMs: Number(values.minutes) * 60_000,
  people: Number(values.people),
})
for (const problem of problems) print(`  ${problem}`)
print(`${operations} operations, ${kills} kills, ${problems.length} problems; calls that failed:`)
for (const [code, times] of refused) print(`  ${times} × ${code}`)
await endCrashWorld(world)
process.exit(problems.length === 0 ? 0 : 1)
