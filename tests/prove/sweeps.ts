/**
 * Garbage collection under load: Docks, Snapshots and Templates are created and deleted at random, with a sweep every
 * second, a grace period of three seconds, and kills of control plane and agent. At the end every object on disk is
 * compared with the database, and every Snapshot is restored and compared with its capture.
 *   script/prove sweeps --seconds 600 --workers 4 --kill-every 8
 * Real: control plane, PostgreSQL, link, agent, btrfs pool, ext4 disks, folder store. Fake: the sandboxes.
 */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { startStorageProof } from '../storage/storage-world.ts'
import { checkSweeps, soakSweeps } from '../storage/sweep-soak.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    workers: { type: 'string', default: '4' },
    'kill-every': { type: 'string', default: '8' },
  },
})
const sweepsWanted = Math.min(50, Number(values.seconds) / 12)
const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const listed = (counts: Map<string, number>): string =>
  [...counts].map(([name, times]) => `${times} × ${name}`).join(', ')
/** Counts the errors that the control plane has logged. */
const errorsIn = (log: string): Map<string, number> => {
  const errors = new Map<string, number>()
  for (const [line] of log.matchAll(/^.*"level":[56]0.*$/gm)) {
    const [, message = line] = /"msg":"([^"]*)/.exec(line) ?? []
    const [, cause = ''] = /"message":"([^"]*)/.exec(line) ?? []
    const name = `${message} (${cause})`
    errors.set(name, (errors.get(name) ?? 0) + 1)
  }
  return errors
}

const { world, end } = await startStorageProof({
  DOCK_TEST_COPY_AGE_SECONDS: '0',
  DOCK_TEST_COPY_RETRY_SECONDS: '0.2',
  DOCK_TEST_COPY_SWEEP_SECONDS: '1',
  DOCK_TEST_COPY_GRACE_SECONDS: '3',
  DOCK_TEST_COPY_STRAYS_SECONDS: '2',
  DOCK_COPY_DRILL_SECONDS: '5',
  DOCK_TEST_COPY_DRILL_AGAIN_SECONDS: '30',
})
let problems = ['the proof did not finish']
try {
  const { done, refused, kills } = await soakSweeps(world, {
    durationMs: Number(values.seconds) * 1000,
    workers: Number(values.workers),
    killEveryMs: Number(values['kill-every']) * 1000,
  })
  print(`done: ${listed(done)}`)
  print(`refused: ${listed(refused)}`)
  const findings = await checkSweeps(world)
  problems = findings.problems
  const log = await readFile(world.logFile, 'utf8')
  const said = (message: string): number => log.split(`"msg":"${message}"`).length - 1
  const sweeps = said('copies swept')
  if (sweeps < sweepsWanted) problems.push(`only ${sweeps} sweeps`)
  print(`logged errors: ${listed(errorsIn(log))}`)
  for (const problem of problems) print(`  ${problem}`)
  print(
    `${sweeps} sweeps, ${said('Snapshot copied')} copies made, ${kills} kills: the agent died ${world.host.deaths()} times, the control plane ${world.controlPlane.deaths()} times`,
  )
  print(
    `${findings.objects} referenced objects exist; ${findings.restored} Snapshots restored, ${findings.chunks} chunks identical to the captures; ${problems.length} problems`,
  )
} finally {
  await end()
}
process.exit(problems.length === 0 ? 0 : 1)
