/** Runs one block on one server: waits for a quiet machine, takes the readings around the requests, and records both. */
import { setTimeout as delay } from 'node:timers/promises'
import { waitForIdle } from '../parts/until-idle.ts'
import { type Block, idleLine } from './blocks.ts'
import { type Costs, costsBetween, noCosts, readCosts } from './costs.ts'
import type { Records } from './records.ts'
import type { Side } from './side.ts'
import { countSystemCalls } from './system-calls.ts'

/** A block begins when the machine used less than 15 % of its processors, or after this time. */
const quiet = { shareMin: 0.85, lookMs: 250, withinMs: 5_000 }

/** What requests leave behind is theirs: outcomes that are saved later, services that start later, copies of captures. */
const afterwardsMs = 600

/** How many blocks began, and how many of them on a machine that was busy with something else. */
export type Quietness = { blocks: number; busy: number }

/** Runs a block and records it. `idle` is what the server uses without requests, in each second. Returns the costs. */
export async function runBlock(
  block: Block,
  side: Side,
  records: Records,
  { idle, quietness }: { idle: Costs; quietness: Quietness },
): Promise<Costs> {
  await block.prepare?.(side)
  quietness.blocks++
  if (!(await waitForIdle(quiet))) quietness.busy++
  const before = await readCosts(side.processes, side.dataDir, side.counter, 'before')
  const samples = await block.work(side)
  await delay(afterwardsMs)
  await waitForIdle(quiet)
  const after = await readCosts(side.processes, side.dataDir, side.counter, 'after')
  const isIdle = block.costsOf === idleLine
  const costs = isIdle
    ? costsBetween(before, after, noCosts, (after.atMs - before.atMs) / 1000)
    : costsBetween(before, after, idle, block.requests)
  for (const [name, values] of Object.entries({ [block.costsOf]: [], ...samples }))
    records.add(name, side.name, { samples: values, ...(name === block.costsOf && { costs }) })
  return costs
}

/** Runs a block once more, only to count the agent's system calls. `idle` is their number in each second. */
export async function countCallsOfBlock(
  block: Block,
  side: Side,
  records: Records,
  idle: number,
): Promise<number> {
  await block.prepare?.(side)
  await waitForIdle(quiet)
  const stop = await countSystemCalls(side.processes.agent)
  const begin = performance.now()
  await block.work(side)
  await delay(afterwardsMs)
  const calls = await stop()
  const seconds = (performance.now() - begin) / 1000
  const isIdle = block.costsOf === idleLine
  const ofOne = isIdle ? calls / seconds : Math.max(0, calls - idle * seconds) / block.requests
  records.addSystemCalls(block.costsOf, side.name, ofOne)
  return ofOne
}
