/**
 * Shows that GitHub Runs happen once, end where they must, and keep no secret, with the stand-in of GitHub and the agent
 * `command` in real Docks. `script/prove runs [PART=COUNT …]`; the parts and their usual counts stand below. A count of 0
 * leaves a part out. With any argument, the parts that are not named are left out.
 */
import { print } from '../../bench/parts/bench-server.ts'
import { createFaultFolder } from '../crash/fault-folder.ts'
import { proveSaga, proveStarts } from './runs/kills.ts'
import { proveBudget, provePushes, proveStop } from './runs/limits.ts'
import { startModelServer } from './runs/model-server.ts'
import { type Check, startRunProof } from './runs/run-proof.ts'
import { createEnvironment, proveCanaries, proveHostile } from './runs/secrets.ts'
import { proveCrowd, proveLatency } from './runs/speed.ts'
import { proveReceipts, proveRepeats } from './runs/webhooks.ts'

const usual = {
  /** Deliveries of one webhook at once. */
  repeats: 20,
  /** Webhooks from whose receipt to the agent the time is measured, for each target. */
  latency: 20,
  fast: 20,
  /** Kills right after the receipt of a webhook. */
  receipts: 50,
  /** Kills around the steps of a turn. There are two for each step, place and process. */
  saga: 100,
  fastSaga: 30,
  /** Processes of a Run during whose start the agent is killed. A Run starts as many. */
  starts: 3,
  fastStarts: 3,
  budget: 2,
  stop: 5,
  pushes: 1,
  canaries: 1,
  hostile: 1,
  /** Runs at once. */
  crowd: 20,
}
type Part = keyof typeof usual
const given = process.argv.slice(2)
const counts: Record<Part, number> = { ...usual }
if (given.length > 0) for (const part of Object.keys(usual) as Part[]) counts[part] = 0
for (const argument of given) {
  const [part = '', count] = argument.split('=')
  if (!(part in usual) || !/^\d+$/.test(count ?? '')) {
    print(`usage: script/prove runs [PART=COUNT …], where PART is one of: ${Object.keys(usual).join(' ')}`)
    process.exit(2)
  }
  counts[part as Part] = Number(count)
}

let problems = 0
const check: Check = (what, holds, detail = '') => {
  if (!holds) problems += 1
  print(`${holds ? 'holds ' : 'BROKEN'}  ${what}${detail && `: ${detail}`}`)
}

const limits = ['DOCKS', 'CPUS', 'MEMORY_MIB', 'DISK_GIB'].map((name) => [`DOCK_LIMIT_${name}`, '1000000'])
const model = await startModelServer()
const faults = await createFaultFolder()
const proof = await startRunProof(
  { ...Object.fromEntries(limits), MODEL_OPENAI_URL: model.url, DOCK_WARM_POOL: '4' },
  faults,
  check,
)
const parts: Record<Part, (count: number) => Promise<void>> = {
  repeats: (count) => proveRepeats(proof, count),
  latency: (count) => proveLatency(proof, count, 'dock'),
  fast: (count) => proveLatency(proof, count, 'fast'),
  receipts: (count) => proveReceipts(proof, count),
  saga: (count) => proveSaga(proof, count, 'dock'),
  fastSaga: (count) => proveSaga(proof, count, 'fast'),
  starts: (count) => proveStarts(proof, count, 'dock'),
  fastStarts: (count) => proveStarts(proof, count, 'fast'),
  budget: (count) => proveBudget(proof, model, environmentId, count),
  stop: (count) => proveStop(proof, count),
  pushes: () => provePushes(proof),
  canaries: () => proveCanaries(proof, model, environmentId),
  hostile: () => proveHostile(proof, environmentId),
  crowd: (count) => proveCrowd(proof, count),
}
const environmentId = await createEnvironment(proof)
try {
  for (const part of Object.keys(usual) as Part[]) {
    if (counts[part] === 0) continue
    print(`        ${part}=${counts[part]}`)
    const begin = Date.now()
    await parts[part](counts[part]).catch((error: unknown) => check(part, false, String(error)))
    print(`        ${((Date.now() - begin) / 1000).toFixed(0)} s`)
  }
} finally {
  await proof.close()
  await faults.remove()
  model.close()
}
print(problems === 0 ? 'Runs happen once, end where they must, and keep no secret' : `${problems} problems`)
process.exit(problems === 0 ? 0 : 1)
