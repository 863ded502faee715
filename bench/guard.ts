/**
 * Compares this checkout with another commit, by turns on one machine, in at most 15 minutes after the installation.
 *
 *   script/bench guard BASE [--long]     BASE is any name of a commit; --long makes 304 lives instead of at most 56
 *
 * Prints a table in Markdown. The exit code is 1 if a line is worse by more than 3 % beyond the spread of its rounds.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Block, docksInRound, idleLine, lifeBlocks, warmBlock, warmPoolSize } from './guard/blocks.ts'
import { type Costs, noCosts } from './guard/costs.ts'
import { installBase } from './guard/install-base.ts'
import { Records } from './guard/records.ts'
import { countCallsOfBlock, type Quietness, runBlock } from './guard/run-block.ts'
import {
  newPlace,
  type Place,
  preparePlace,
  removePlace,
  type Side,
  startSide,
  stopSide,
} from './guard/side.ts'
import { hasStrace } from './guard/system-calls.ts'
import { writeTable } from './guard/table.ts'
import { print } from './parts/bench-server.ts'
import { readMemory } from './parts/memory.ts'
import { waitForIdle } from './parts/until-idle.ts'

const startsCount = 3
const settleAfterStartMs = 3_000
/** A round of the warm pool takes this share of the time of another round. */
const warmShare = 0.35
const usual = { rounds: 7, minutesMax: 15 }
const long = { rounds: 38, minutesMax: Number.POSITIVE_INFINITY }

const [revision, ...options] = process.argv.slice(2)
if (revision === undefined || options.some((option) => option !== '--long')) {
  process.stderr.write('usage: script/bench guard BASE [--long]\n')
  process.exit(2)
}
const { rounds, minutesMax } = options.length > 0 ? long : usual
const say = (text: string): boolean => process.stderr.write(`guard: ${text}\n`)

const records = new Records()
const quietness: Quietness = { blocks: 0, busy: 0 }
const places: Place[] = []
const sides: Side[] = []

/** A signal ends the comparison after the current block, so that no server outlives it. */
const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => interruption.abort(new Error(`ended by ${signal}`)))

/** Calls `work` for both servers. They take turns in being the first. */
let turn = 0
const byTurns = async <T>(of: readonly T[], work: (each: T) => Promise<void>): Promise<void> => {
  for (const each of turn++ % 2 === 0 ? of : [...of].reverse()) {
    await work(each)
    interruption.signal.throwIfAborted()
  }
}

const recordMemory = async (side: Side, when: string): Promise<void> => {
  for (const [name, mib] of await readMemory(side.server))
    records.add(`memory ${when}: ${name}`, side.name, { samples: [mib] }, 'MiB')
}

/** Stops the servers that run. */
const stopAll = async (): Promise<void> => {
  for (const side of sides.splice(0)) await stopSide(side)
}

/** Starts each server several times, alone. The servers of the last start stay. */
const measureStarts = async (): Promise<void> => {
  for (let index = 0; index < startsCount; index++) {
    await byTurns(places, async (place) => {
      await waitForIdle({ shareMin: 0.85, lookMs: 250, withinMs: 10_000 })
      const side = await startSide(place, 0)
      sides.push(side)
      records.add('start, until Dock is ready', side.name, { samples: [side.startMs] })
      await delay(settleAfterStartMs)
      await recordMemory(side, 'at the start')
      if (index + 1 < startsCount) await stopAll()
    })
  }
}

/** Runs the blocks for both servers by turns. */
const runRound = async (blocks: readonly Block[]): Promise<void> => {
  const idle: Record<Place['name'], Costs> = { base: noCosts, now: noCosts }
  for (const block of blocks)
    await byTurns(sides, async (side) => {
      const costs = await runBlock(block, side, records, { idle: idle[side.name], quietness })
      if (block.costsOf === idleLine) idle[side.name] = costs
    })
}

const countCalls = async (): Promise<void> => {
  const idle: Record<Place['name'], number> = { base: 0, now: 0 }
  for (const block of lifeBlocks)
    await byTurns(sides, async (side) => {
      const calls = await countCallsOfBlock(block, side, records, idle[side.name])
      if (block.costsOf === idleLine) idle[side.name] = calls
    })
}

const startBoth = async (warmPool: number): Promise<void> => {
  for (const place of places) sides.push(await startSide(place, warmPool))
}

const measure = async (): Promise<void> => {
  const begin = performance.now()
  const minutes = (): number => (performance.now() - begin) / 60_000
  say('preparing the data folders')
  await byTurns(places, preparePlace)
  await measureStarts()
  const beforeRounds = minutes()
  let done = 0
  for (; done < rounds; done++) {
    const ofOne = done > 0 ? (minutes() - beforeRounds) / done : 0
    // One round more for the system calls, and the rounds of the warm pool.
    const left = ofOne * (2 + warmShare * (done + 1))
    if (minutes() + left > minutesMax) break
    await runRound(lifeBlocks)
    for (const side of sides) await recordMemory(side, 'after a round')
    say(`round ${done + 1} of ${rounds} after ${minutes().toFixed(1)} minutes`)
  }
  if (done < rounds) say(`only ${done} of ${rounds} rounds, because of the time`)
  const left = ((minutes() - beforeRounds) / done) * (1 + warmShare * done)
  if (!(await hasStrace())) say('no count of system calls: strace is not installed')
  else if (minutes() + left > minutesMax) say('no count of system calls, because of the time')
  else await countCalls()
  await stopAll()
  await startBoth(warmPoolSize)
  for (let index = 0; index < done; index++) await runRound([warmBlock])
  await stopAll()
  say(`${done * docksInRound} lives of each server in ${minutes().toFixed(1)} minutes`)
}

const cleanUp = async (): Promise<void> => {
  await stopAll()
  for (const place of places.splice(0)) await removePlace(place)
}
say(`installing ${revision}`)
const base = await installBase(revision)
try {
  places.push(await newPlace('base', base.checkout), await newPlace('now', join(import.meta.dirname, '..')))
  await measure()
} finally {
  await cleanUp()
}
const counts = places.every((place) => place.counts)
const { text, worse } = writeTable(records.lines(), counts)
print(
  `Base ${base.commit.slice(0, 12)}. ${quietness.busy} of ${quietness.blocks} blocks began on a machine that was busy with something else.`,
)
print(`\n${text}\n`)
print(worse.length === 0 ? 'No line is worse.' : `Worse: ${worse.join(', ')}`)
process.exitCode = worse.length === 0 ? 0 : 1
