/**
 * script/prove aborts [requests, 20000] [seed] [target…]: sends HEAD, breaks requests and responses off at random bytes,
 * half-closes and resets on every raw or streamed route and every other door of a server with real Docks. No process of
 * it may end, no log may have an error, and nothing may be left behind. The seed changes daily. With targets, given by
 * how their names begin, only those are used; `-` before a target leaves it out.
 */
import { cp } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { startRedis } from '@dock/testkit/src/redis-server.ts'
import { print } from '../../bench/parts/bench-server.ts'
import { stateOfProcess } from '../crash/processes.ts'
import { startRunsWorld } from '../e2e/support/runs-world.ts'
import { allTargets } from './aborts/all-targets.ts'
import { describeSockets } from './aborts/describe-sockets.ts'
import { describeCounts, fuzzAborts } from './aborts/fuzz.ts'
import { startBrokenModelServer } from './aborts/model-server.ts'
import { openDoors } from './aborts/open-doors.ts'
import { processesOf, tryEverything, watchLogs } from './aborts/soundness.ts'
import { uncoveredRoutes } from './aborts/target.ts'
import { prepareWorld } from './aborts/world.ts'
import { findGrowth, measureFigures } from './ssh/process-figures.ts'

const [countText = '20000', seedText = String(Math.floor(Date.now() / 86_400_000)), ...named] =
  process.argv.slice(2)
const [count, seed] = [Number(countText), Number(seedText)]
/** The doors of a Run's Dock are reached from inside it, without a request of this program. */
const doorsName = 'doors of a Run'
const unwanted = named.flatMap((name) => (name.startsWith('-') ? [name.slice(1)] : []))
const wanted = named.filter((name) => !name.startsWith('-'))
const isNamed = (target: string): boolean =>
  (wanted.length === 0 || wanted.some((each) => target.startsWith(each))) &&
  !unwanted.some((each) => target.startsWith(each))
const targets = allTargets.filter(({ name }) => isNamed(name))
if (!Number.isInteger(count) || !Number.isInteger(seed) || targets.length === 0) {
  print('usage: script/prove aborts [requests] [seed] [target…]; targets:')
  for (const name of [...allTargets.map((target) => target.name), doorsName]) print(`  ${name}`)
  process.exit(2)
}

const atOnce = 12
/** How many wait in the middle of a request, at any time of a long run. */
const holding = 8
const longMin = 2_000
const progressMs = 60_000
const begunShareMin = 0.5
const printedMax = 12

let problems = 0
const check = (what: string, holds: boolean, detail = ''): void => {
  if (!holds) problems += 1
  print(`${holds ? 'holds ' : 'BROKEN'}  ${what}${detail && `: ${detail}`}`)
}

const uncovered = uncoveredRoutes(allTargets)
check(
  'every raw, streamed and upgraded route of the contract has a target',
  uncovered.length === 0,
  uncovered.join(', '),
)

const redis = await startRedis()
const model = await startBrokenModelServer()
const sshPort = await freePort()
const limits = ['DOCKS', 'CPUS', 'MEMORY_MIB', 'DISK_GIB'].map((name) => [`DOCK_LIMIT_${name}`, '1000000'])
const runs = await startRunsWorld({
  ...Object.fromEntries(limits),
  ...{
    REDIS_URL: redis.url,
    MODEL_OPENAI_URL: model.url,
    DOCK_SSH_PORT: String(sshPort),
    DOCK_WARM_POOL: '0',
  },
})
const server = { ...runs.server, port: runs.port }
const counters = connect(redis.port, '127.0.0.1').on('error', () => undefined)
counters.resume()
try {
  print(`seed ${seed}`)
  const world = await prepareWorld(server, { machines: 2, sshPort })
  const { id } = world.machines[0]!
  const processes = await processesOf(world)
  const before = await measureFigures(server, id)
  const logs = await watchLogs(server.dataDir)
  const doors = isNamed(doorsName) ? await openDoors(runs, seed) : null

  let ended: string | null = null
  let made = 0
  const begin = Date.now()
  // Otherwise the limits of the service would refuse most attempts.
  const clearing = setInterval(() => counters.write('FLUSHALL\r\n'), 1_000)
  const watching = setInterval(async () => {
    for (const [name, pid] of Object.entries(processes))
      if (pid !== null && (await stateOfProcess(pid)) === null)
        ended ??= `the ${name} ended after ${made} attempts`
  }, 100)
  const telling = setInterval(
    () => print(`        ${made} attempts in ${Math.round((Date.now() - begin) / 1000)} s`),
    progressMs,
  )
  const report = await fuzzAborts({
    ...{ world, targets, count, seed, atOnce, holding: count < longMin ? 0 : holding },
    isOver: (at) => {
      made = at
      return ended !== null
    },
  })
  for (const timer of [watching, telling]) clearInterval(timer)
  const tookSeconds = (Date.now() - begin) / 1000

  for (const line of describeCounts(report)) print(`        ${line}`)
  const share = report.begun / report.sent
  print(
    `        ${report.sent} sent in ${tookSeconds.toFixed(0)} s; ${(share * 100).toFixed(0)} % of the responses began; ${report.held} held`,
  )
  const isSame = JSON.stringify(await processesOf(world)) === JSON.stringify(processes)
  check('the same processes run', ended === null && isSame, ended ?? '')
  if (ended !== null) for (const line of report.latest) print(`          ${line}`)
  check(`at least ${begunShareMin * 100} % of the responses began`, share >= begunShareMin)
  check('no attempt was stuck or failed inside', report.wrong.length === 0, `${report.wrong.length}`)
  for (const line of report.wrong.slice(0, printedMax)) print(`          ${line}`)
  if (ended === null) {
    if (doors) print(`        doors of the Run: ${JSON.stringify(await doors.count())}`)
    await doors?.stop()
    for (const [what, works, why] of await tryEverything(world)) check(what, works, why)
    // Output of processes that have ended stays: at most 64 MiB of a Dock, in files of 1 MiB, and one for each stream.
    before.keeperFiles += (world.machines.length + 1) * (64 + 128)
    const grown = await findGrowth(server, id, before, 300)
    check('nothing is left behind', grown.length === 0, grown.join(', '))
    for (const [name, pid] of Object.entries(processes))
      if (grown.length > 0 && pid !== null)
        for (const line of (await describeSockets(pid)).slice(0, printedMax))
          print(`          ${name}: ${line}`)
  }
  const errors = await logs.errors()
  check('no log has an error', errors.length === 0, `${errors.length} kinds`)
  for (const { example, times } of errors.slice(0, printedMax))
    print(`          ${times} times ${example.slice(0, 3_000)}`)
  if (problems > 0) {
    const kept = `${server.dataDir}-logs`
    await cp(join(server.dataDir, 'logs'), kept, { recursive: true })
    print(`        the logs are kept in ${kept}`)
  }
  clearInterval(clearing)
  await world.close()
} finally {
  counters.destroy()
  await runs.close()
  model.close()
  await redis.stop()
}
print(problems === 0 ? 'pass: clients may leave as they like' : `fail: ${problems} checks`)
process.exit(problems === 0 ? 0 : 1)
