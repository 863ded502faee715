/** The end of an agent at its budget. */
import { timeOf } from '../runs/run-proof.ts'
import { type AgentsProof, agents, type Subject, turnMs } from './agents-proof.ts'

/** The model never comes to an end. A reply costs 0.06 cents. */
export async function proveBudget(
  { proof, scripted, environmentId }: AgentsProof,
  { agent, target }: Subject,
): Promise<void> {
  scripted.begin()
  scripted.isEndless = true
  const { model } = agents[agent]
  const asked = await proof.ask('true', {
    ...{ agent, settings: { environmentId, model, budgetCents: 1, executionTarget: target } },
  })
  const run = await proof.until(asked, ['failed'], turnMs)
  const { client } = proof.world.server
  const cost = await client.call('readRunCost', { params: { id: run.id }, query: {} })
  const tookMs = timeOf(run, 'failed') - scripted.repliedAt
  proof.check(
    `${agent} on ${target}: at its budget the Run fails within 5 s, and opens no pull request`,
    run.completionStatus === 'budget_exhausted' && run.prNumber === null && tookMs <= 5_000,
    `${tookMs} ms after the last reply, $${cost.costUsd} of $0.01`,
  )
  await proof.clear()
}
