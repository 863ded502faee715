/** The control plane and the agent are killed before and after every step of a turn. */
import { interruptCall } from '../../crash/crash-case.ts'
import { countAtGithub, oneOfEach, type RunProof, rounds } from './run-proof.ts'

const lines = 20
/** Long enough that kills while it is followed hit it. */
const command = `for i in $(seq ${lines}); do echo $i | tee -a counted; sleep 0.2; done`
const written = `${Array.from({ length: lines }, (_, index) => index + 1).join('\n')}\n`

const ofTurn = /^saga:run-turn:/

/** Returns `count` of the cases, spread over all of them. */
const choose = <T>(cases: readonly T[], count: number): T[] =>
  count >= cases.length
    ? [...cases]
    : Array.from({ length: count }, (_, index) => cases[Math.floor((index * cases.length) / count)]!)

export async function proveSaga(
  proof: RunProof,
  count: number,
  executionTarget: 'dock' | 'fast',
): Promise<void> {
  const ask = () => proof.ask(command, { settings: { executionTarget } })
  const { world, faults, check } = proof
  const server = { ...world.server, port: world.port, faults }
  const places = await faults.placesOf(async () => proof.until(await ask(), ['pr_opened']))
  await proof.clear()
  const victims = ['control-plane', 'agent'] as const
  const all = places
    .filter((place) => ofTurn.test(place))
    .flatMap((place) => victims.map((victim) => ({ place, victim })))
  const cases = choose(all, count)
  let whole = 0
  await rounds(cases.length, async (round) => {
    const { place, victim } = cases[round]!
    const problems: string[] = []
    try {
      await faults.clear()
      await faults.arm(place)
      const asked = await ask()
      const ended = proof.until(asked, ['pr_opened'])
      await interruptCall(server, { place, victim }, ended)
      const run = await ended
      const counts = await countAtGithub(proof, asked, run.branch!)
      if (counts !== oneOfEach) problems.push(counts)
      const pushed = await world.github.git.run(asked.repository, 'show', `${run.branch}:counted`)
      if (`${pushed}\n` !== written) problems.push(`the agent's work is ${JSON.stringify(pushed)}`)
      const log = await world.readLog(run.id)
      if (log !== written) problems.push(`the log is ${JSON.stringify(log)}`)
      const words = run.events.map(({ t }) => t)
      if (new Set(words).size !== words.length) problems.push(`the timeline is ${words.join(' ')}`)
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error))
    }
    if (problems.length === 0) whole += 1
    else check(`a kill of the ${victim} at ${place}, target ${executionTarget}`, false, problems.join('; '))
    await proof.clear()
  })
  check(
    `${cases.length} of ${all.length} kills around the steps, target ${executionTarget}: one branch, one pull request, one comment, a whole log`,
    whole === cases.length && all.length > 0,
    `${whole} whole`,
  )
}
