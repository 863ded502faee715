/** Webhooks that come many times, and webhooks whose receiver is killed right after its answer. */
import { processOf } from '../../crash/processes.ts'
import { type Asked, eventually, type RunProof, rounds, spread } from './run-proof.ts'

const receiptMsMax = 100

/** Waits until the webhook is processed. Returns what followed. */
export async function outcomeOf({ database }: RunProof, deliveryId: string): Promise<string> {
  return eventually('a webhook that is processed', async () => {
    const { rows } = await database.query<{ outcome: string }>(
      'select outcome from github_webhooks where delivery_id = $1 and processed_at is not null',
      [deliveryId],
    )
    return rows[0]?.outcome ?? null
  })
}

/** One delivery many times at once, and its body under a new id: one Run. */
export async function proveRepeats(proof: RunProof, count: number): Promise<void> {
  const { world, check } = proof
  const { webhooks } = world.github
  const asked = await proof.ask('true', { isHeld: true })
  const sent = Array.from({ length: count }, () => webhooks.deliver(asked.delivery))
  sent.push(webhooks.deliver(asked.delivery, 'another-id'))
  const statuses = await Promise.all(sent)
  const outcomes = [await outcomeOf(proof, asked.delivery.guid), await outcomeOf(proof, 'another-id')]
  const found = await proof.runsOf(asked)
  check(
    `one delivery ${count} times at once, and its body under a new id: one Run`,
    found.length === 1 && statuses.every((status) => status === 202),
    `${found.length} Runs, outcomes ${outcomes.join(' and ')}`,
  )
  const times: number[] = []
  await rounds(count, async () => {
    const begin = performance.now()
    await webhooks.deliver(asked.delivery)
    times.push(performance.now() - begin)
  })
  const { p50, p95 } = spread(times)
  check(
    `a webhook is answered within ${receiptMsMax} ms`,
    p95 <= receiptMsMax,
    `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`,
  )
  await proof.clear()
}

/** The control plane is killed as soon as it has answered 202. */
export async function proveReceipts(proof: RunProof, count: number): Promise<void> {
  const { world, check } = proof
  const asks: Asked[] = []
  let accepted = 0
  let once = 0
  await rounds(count, async (round) => {
    const asked = await proof.ask('true', { isHeld: true })
    asks.push(asked)
    const { dataDir } = world.server
    const pid = await eventually('the control plane', () =>
      processOf('control-plane', { dataDir, port: world.port }),
    )
    const status = await world.github.webhooks.deliver(asked.delivery)
    process.kill(pid, 'SIGKILL')
    if (status === 202) accepted += 1
    await outcomeOf(proof, asked.delivery.guid)
    const run = await proof.until(asked, ['pending', 'provisioning', 'working', 'done', 'stopped'])
    await eventually('the stop', () => proof.stop(run).then(() => true))
    if (round % 10 === 9) await proof.clear()
  })
  for (const asked of asks) {
    const found = await eventually('the Runs', () => proof.runsOf(asked))
    if (found.length === 1) once += 1
  }
  check(
    `${count} kills right after the 202: each webhook is processed once`,
    accepted === count && once === count,
    `${accepted} accepted, ${once} processed once`,
  )
  await proof.clear()
}
