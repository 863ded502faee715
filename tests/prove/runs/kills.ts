/** The control plane and the agent are killed before and after every step of a turn. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Run } from '@dock/contract'
import { interruptAtEach, type Kill } from '../../crash/crash-case.ts'
import {
  type Asked,
  countAtGithub,
  eventually,
  lastingMs,
  oneOfEach,
  type RunProof,
  rounds,
} from './run-proof.ts'

const lines = 20
/** Long enough that kills while it is followed hit it. */
const command = `for i in $(seq ${lines}); do echo $i | tee -a counted; sleep 0.2; done`
const written = `${Array.from({ length: lines }, (_, index) => index + 1).join('\n')}\n`

/** Runs and kills of a group. */
const groupSize = 4
/** Between the starts of the Runs of a group, so that they are at different steps. */
const betweenMs = 700

type Target = Run['executionTarget']
const ofTurn = /^saga:run-turn:/

/** Deals the kills into groups. The places of a group lie far apart, because each kill may break a try of git. */
const deal = (kills: readonly Kill[]): Kill[][] => {
  const size = Math.ceil(kills.length / groupSize)
  return Array.from({ length: size }, (_, group) => kills.filter((_, index) => index % size === group))
}

/** Returns `count` of the cases, spread over all of them. */
const choose = <T>(cases: readonly T[], count: number): T[] =>
  count >= cases.length
    ? [...cases]
    : Array.from({ length: count }, (_, index) => cases[Math.floor((index * cases.length) / count)]!)

/** Sends the webhook until the server, which may be down, has received it. */
const sendUntilReceived = (proof: RunProof, { delivery }: Asked): Promise<unknown> =>
  eventually('the receipt of a webhook', async () =>
    (await proof.world.github.webhooks.deliver(delivery)) === 202 ? true : null,
  )

/** Waits for the pull request of a Run. Returns what is wrong with its end. */
const problemsOf = async (proof: RunProof, asked: Asked): Promise<string[]> => {
  const { world } = proof
  const problems: string[] = []
  const run = await proof.until(asked, ['pr_opened'])
  const counts = await countAtGithub(proof, asked, run.branch!)
  if (counts !== oneOfEach) problems.push(counts)
  const pushed = await world.github.git.run(asked.repository, 'show', `${run.branch}:counted`)
  if (`${pushed}\n` !== written) problems.push(`the agent's work is ${JSON.stringify(pushed)}`)
  const log = await world.readLog(run.id)
  if (log !== written) problems.push(`the log is ${JSON.stringify(log)}`)
  const words = run.events.map(({ t }) => t)
  if (new Set(words).size !== words.length) problems.push(`the timeline is ${words.join(' ')}`)
  return problems
}

/**
 * Several Runs are under way at each kill, at different steps. Each kill is that of the first Run that reaches its place,
 * and all of them must end well.
 */
export async function proveSaga(proof: RunProof, count: number, executionTarget: Target): Promise<void> {
  const ask = () => proof.ask(command, { settings: { executionTarget }, isHeld: true })
  const { world, faults, check } = proof
  const server = { ...world.server, port: world.port, faults }
  const places = await faults.placesOf(async () => {
    const asked = await ask()
    await sendUntilReceived(proof, asked)
    await proof.until(asked, ['pr_opened'])
  })
  await proof.clear()
  const victims = ['control-plane', 'agent'] as const
  const all = places
    .filter((place) => ofTurn.test(place))
    .flatMap((place) => victims.map((victim) => ({ place, victim })))
  const groups = deal(choose(all, count))
  let [whole, runs] = [0, 0]
  await rounds(groups.length, async (round) => {
    const kills = groups[round]!
    const problems: string[] = []
    const asks: Asked[] = []
    for (const _ of kills) asks.push(await ask())
    await faults.clear()
    for (const { place } of kills) await faults.arm(place)
    const begun = (async () => {
      for (const asked of asks) {
        await sendUntilReceived(proof, asked)
        await delay(betweenMs)
      }
    })()
    const checked = begun.then(() => Promise.all(asks.map((asked) => problemsOf(proof, asked))))
    const killing = interruptAtEach(server, kills, checked, lastingMs).catch(async (error: unknown) => {
      // A place that is passed later would pause the server for good.
      await faults.clear()
      throw error
    })
    const [killed, found] = await Promise.allSettled([killing, checked])
    if (killed.status === 'rejected') problems.push(String(killed.reason))
    if (found.status === 'rejected') problems.push(String(found.reason))
    else problems.push(...found.value.flat())
    runs += asks.length
    if (problems.length === 0) whole += kills.length
    else
      check(
        `kills ${kills.map(({ victim, place }) => `of the ${victim} at ${place}`).join(', ')}, target ${executionTarget}`,
        false,
        problems.join('; '),
      )
    await faults.clear()
    await proof.clear()
  })
  const wanted = groups.flat().length
  check(
    `${wanted} of ${all.length} kills around the steps, target ${executionTarget}: one branch, one pull request, one comment, a whole log`,
    whole === wanted && all.length > 0,
    `${whole} whole, of ${runs} Runs`,
  )
}

const startPlace = 'agent:start-kept:opened'

/**
 * The agent is killed between the start of a process and the record of it, once for each process that a Run starts. The
 * next agent ends what had started, and the Run starts it again.
 */
export async function proveStarts(proof: RunProof, count: number, executionTarget: Target): Promise<void> {
  const { world, faults, check } = proof
  const server = { ...world.server, port: world.port, faults }
  const problems: string[] = []
  for (let start = 0; start < count; start++) {
    const asked = await proof.ask(command, { settings: { executionTarget }, isHeld: true })
    await faults.clear()
    await faults.arm(startPlace, ` ${start}`)
    await sendUntilReceived(proof, asked)
    const ended = problemsOf(proof, asked)
    const killing = interruptAtEach(server, [{ place: startPlace, victim: 'agent' }], ended, lastingMs)
    for (const result of await Promise.allSettled([killing, ended])) {
      if (result.status === 'rejected') problems.push(`start ${start + 1}: ${String(result.reason)}`)
      else if (result.value) problems.push(...result.value.map((problem) => `start ${start + 1}: ${problem}`))
    }
    await faults.clear()
    await proof.clear()
  }
  check(
    `the agent killed while it starts each of ${count} processes of a Run, target ${executionTarget}`,
    problems.length === 0,
    problems.join('; '),
  )
}
