/**
 * script/prove agents [AGENT|TARGET|PART…]: opencode, Claude Code and Codex, as they are in the image debian-13-agents,
 * work on an issue in a real Dock and in a machine without one. Their model is a scripted one behind the door. Each
 * commits, continues its session for a review, and again after its machine has gone. The repository's own configuration of
 * the agents is hostile, and the model obeys it. Words choose agents, targets and parts: `opencode fast turns` runs one
 * part for one agent on one target. What no word chooses runs whole.
 */
import { randomBytes } from 'node:crypto'
import { print } from '../../bench/parts/bench-server.ts'
import { createFaultFolder } from '../crash/fault-folder.ts'
import {
  type AgentsProof,
  agents,
  createEnvironment,
  type RealAgent,
  type Target,
} from './agents/agents-proof.ts'
import { proveBudget } from './agents/budget.ts'
import { proveControls } from './agents/controls.ts'
import { startElsewhere } from './agents/elsewhere.ts'
import { startScriptedAgent } from './agents/scripted-agent.ts'
import { proveTurns } from './agents/turns.ts'
import { buildImage } from './images/build-image.ts'
import { type Check, startRunProof } from './runs/run-proof.ts'

const image = 'debian-13-agents'
const known = {
  agents: Object.keys(agents) as RealAgent[],
  targets: ['dock', 'fast'] satisfies Target[],
  parts: ['controls', 'turns', 'budget'] as const,
}
const given = process.argv.slice(2)
const all: readonly string[] = Object.values(known).flat()
if (given.some((word) => !all.includes(word))) {
  print(`usage: script/prove agents [WORD…], where WORD is one of: ${all.join(' ')}`)
  process.exit(2)
}
const chosen = <Word extends string>(words: readonly Word[]): readonly Word[] =>
  words.some((word) => given.includes(word)) ? words.filter((word) => given.includes(word)) : words
const [names, targets, parts] = [chosen(known.agents), chosen(known.targets), chosen(known.parts)]

let problems = 0
const check: Check = (what, holds, detail = '') => {
  if (!holds) problems += 1
  print(`${holds ? 'holds ' : 'BROKEN'}  ${what}${detail && `: ${detail}`}`)
}

const modelKey = `canary${randomBytes(16).toString('hex')}`
const scripted = await startScriptedAgent()
const elsewhere = await startElsewhere()
const faults = await createFaultFolder()
const proof = await startRunProof(
  {
    ...{ DOCK_RUN_IMAGE: image, DOCK_WARM_POOL: '0' },
    ...{ MODEL_ANTHROPIC_URL: scripted.models.url, MODEL_OPENAI_URL: scripted.models.url },
  },
  faults,
  check,
)

/** Runs a part. If it throws, prints the end of the latest Run's log. */
const carryOut = async (name: string, work: () => Promise<void>): Promise<void> => {
  const begin = Date.now()
  try {
    await work()
  } catch (error) {
    const [run] = await proof.world.listRuns()
    const log = run ? await proof.world.readLog(run.id) : ''
    check(name, false, `${error}: ${run?.failureReason}\n${log.slice(-6_000)}`)
    await proof.clear()
    await elsewhere.forget()
  }
  print(`        ${name}: ${((Date.now() - begin) / 1000).toFixed(0)} s`)
}

try {
  await buildImage(proof.world.server, image)
  const environmentId = await createEnvironment(proof, modelKey)
  const shared: AgentsProof = { proof, scripted, elsewhere, modelKey, environmentId }
  if (parts.includes('controls')) await carryOut('controls', () => proveControls(shared, names))
  for (const target of targets)
    for (const agent of names) {
      const subject = { agent, target }
      if (parts.includes('turns'))
        await carryOut(`${agent} on ${target}: turns`, () => proveTurns(shared, subject))
      if (parts.includes('budget'))
        await carryOut(`${agent} on ${target}: budget`, () => proveBudget(shared, subject))
    }
} finally {
  await proof.close()
  await faults.remove()
  await elsewhere.close()
  await scripted.models.close()
}
print(problems === 0 ? 'agents work, and only behind the door' : `${problems} problems`)
process.exit(problems === 0 ? 0 : 1)
