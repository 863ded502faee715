/**
 * Injects faults into captures and copies: at each write, sync, freeze, thaw, snapshot, rename and read, the process is
 * killed (SIGKILL) or the call fails with EIO or ENOSPC.
 *   script/prove captures --rounds 50 --part 1
 * Real: control plane, PostgreSQL, link, agent, btrfs pool, ext4 disks, folder store. Fake: the sandboxes.
 */
import { parseArgs } from 'node:util'
import { allFaults, captureRound, nameOf } from '../storage/capture-round.ts'
import { startStorageProof } from '../storage/storage-world.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '50' }, part: { type: 'string', default: '1' } },
})
const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const { world, end } = await startStorageProof({
  DOCK_TEST_COPY_AGE_SECONDS: '0',
  DOCK_TEST_COPY_RETRY_SECONDS: '0.2',
  DOCK_TEST_COPY_SWEEP_SECONDS: '30',
})
const faults = allFaults()
const count = Number(values.rounds)
const first = (Number(values.part) - 1) * count
print(`${faults.length} faults in all; rounds ${first + 1} to ${first + count}`)
let [hits, completed, failed, bad] = [0, 0, 0, 0]
for (let index = first; index < first + count; index++) {
  const fault = faults[index % faults.length]!
  const begin = performance.now()
  const outcome = await captureRound(world, fault, index + 1)
  const { problems } = outcome
  hits += outcome.hit ? 1 : 0
  completed += outcome.completed
  failed += outcome.failed
  if (!outcome.hit) problems.push('the fault point was never reached')
  bad += problems.length > 0 ? 1 : 0
  const met = `${outcome.hit ? 'reached' : 'not reached'}, ${outcome.completed} completed, ${outcome.failed} failed`
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  print(`${index + 1} ${nameOf(fault)}: ${met}, ${seconds} s ${problems.join('; ')}`)
}
print(
  `${count - bad} of ${count} rounds passed: ${hits} faults reached; the agent died ${world.host.deaths()} times, the control plane ${world.controlPlane.deaths()} times; ${completed} Snapshots completed, each identical on its host and restored from its copy; ${failed} failed`,
)
await end()
process.exit(bad === 0 ? 0 : 1)
