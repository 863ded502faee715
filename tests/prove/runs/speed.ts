/** How long it takes from a webhook to an agent, and many Runs at once. */
import { waitForWarmSandboxes } from '../../../bench/parts/bench-server.ts'
import { countAtGithub, oneOfEach, type RunProof, rounds, spread, timeOf } from './run-proof.ts'

const startMsMax = { dock: 3_000, fast: 2_000 }

export async function proveLatency(
  proof: RunProof,
  count: number,
  executionTarget: 'dock' | 'fast',
): Promise<void> {
  const { world, check } = proof
  const times: number[] = []
  const parts = { queued: [] as number[], provisioning: [] as number[], cloned: [] as number[] }
  await rounds(count, async () => {
    await waitForWarmSandboxes(world.server, 1)
    const asked = await proof.ask('true', { isHeld: true, settings: { executionTarget } })
    const begin = Date.now()
    await world.github.webhooks.deliver(asked.delivery)
    const run = await proof.until(asked, ['done'])
    times.push(timeOf(run, 'agent_started') - begin)
    for (const [event, list] of Object.entries(parts)) list.push(timeOf(run, event as 'queued') - begin)
    await proof.clear()
  })
  const { p50, p95, max } = spread(times)
  const steps = Object.entries(parts).map(([event, list]) => `${event} ${spread(list).p50} ms`)
  check(
    `from a webhook to the agent, target ${executionTarget}: at most ${startMsMax[executionTarget]} ms`,
    p95 <= startMsMax[executionTarget],
    `p50 ${p50} ms, p95 ${p95} ms, max ${max} ms of ${count}; ${steps.join(', ')}`,
  )
}

/** All webhooks come at once. */
export async function proveCrowd(proof: RunProof, count: number): Promise<void> {
  const { world, check } = proof
  const asks = []
  for (let each = 0; each < count; each++)
    asks.push(await proof.ask('date +%N >file; sleep 5', { isHeld: true }))
  const begin = Date.now()
  await Promise.all(asks.map(({ delivery }) => world.github.webhooks.deliver(delivery)))
  const runs = await Promise.all(asks.map((asked) => proof.until(asked, ['pr_opened', 'failed'], 900_000)))
  const counts = await Promise.all(
    asks.map((asked, index) => countAtGithub(proof, asked, runs[index]!.branch!)),
  )
  const whole = counts.filter((each, index) => each === oneOfEach && runs[index]!.state === 'pr_opened')
  const ends = runs.map((run) => timeOf(run, 'pr_opened') - begin)
  const failures = runs.flatMap(({ failureReason }) => failureReason ?? [])
  check(
    `${count} Runs at once: each opens its pull request`,
    whole.length === count,
    `first after ${Math.min(...ends)} ms, last after ${Math.max(...ends)} ms ${failures.join('; ')}`,
  )
  await proof.clear()
}
