/** Webhooks that come many times, and webhooks whose receiver is killed right after its answer. */
import { processOf, stateOfProcess } from '../../crash/processes.ts'
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

/** Kills after which what they left is waited for. */
const groupSize = 10

/** While `work` runs, the organization has room for no machine, so Runs wait and cost nothing. */
const withoutMachines = async ({ world, database }: RunProof, work: () => Promise<void>): Promise<void> => {
  const { organizationId } = world.server.admin
  await database.query('insert into organization_limits (organization_id, docks) values ($1, 0)', [
    organizationId,
  ])
  try {
    await work()
  } finally {
    await database.query('delete from organization_limits where organization_id = $1', [organizationId])
  }
}

/** The control plane is killed as soon as it has answered 202, also while it works on earlier webhooks. */
export async function proveReceipts(proof: RunProof, count: number): Promise<void> {
  const { world, check } = proof
  const asks: Asked[] = []
  const recoveries: number[] = []
  let accepted = 0
  const killAfterReceipt = async (asked: Asked): Promise<void> => {
    const { dataDir } = world.server
    const pid = await eventually('the control plane', () =>
      processOf('control-plane', { dataDir, port: world.port }),
    )
    const status = await world.github.webhooks.deliver(asked.delivery)
    process.kill(pid, 'SIGKILL')
    await eventually('its end', async () => ((await stateOfProcess(pid)) === null ? true : null))
    if (status === 202) accepted += 1
  }
  const killGroup = async (size: number): Promise<void> => {
    const group: Asked[] = []
    for (let each = 0; each < size; each++) group.push(await proof.ask('true', { isHeld: true }))
    for (const asked of group) await killAfterReceipt(asked)
    const begin = Date.now()
    for (const { delivery } of group) await outcomeOf(proof, delivery.guid)
    recoveries.push(Date.now() - begin)
    for (const asked of group) {
      const run = await proof.until(asked, ['pending'])
      await eventually('the stop', () => proof.stop(run).then(() => true))
    }
    asks.push(...group)
  }
  await withoutMachines(proof, async () => {
    for (let left = count; left > 0; left -= groupSize) await killGroup(Math.min(left, groupSize))
  })
  let once = 0
  for (const asked of asks) {
    const found = await eventually('the Runs', () => proof.runsOf(asked))
    if (found.length === 1) once += 1
  }
  check(
    `${count} kills right after the 202: each webhook is processed once`,
    accepted === count && once === count,
    `${accepted} accepted, ${once} processed once, at most ${Math.max(...recoveries)} ms after the last kill`,
  )
  await proof.clear()
}
