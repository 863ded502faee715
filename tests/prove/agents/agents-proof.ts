/** What the parts of the proof of agents share. */
import type { CodingAgent, Run } from '@dock/contract'
import { type Asked, eventually, type RunProof, timeOf } from '../runs/run-proof.ts'
import type { Elsewhere } from './elsewhere.ts'
import type { ScriptedAgent } from './scripted-agent.ts'

export type RealAgent = Exclude<CodingAgent, 'command'>
export type Target = Run['executionTarget']
/** An agent on a target. */
export type Subject = { agent: RealAgent; target: Target }

export const agents: Readonly<Record<RealAgent, { model: string; readsInstructions: boolean }>> = {
  opencode: { model: 'anthropic/claude-sonnet-4-5', readsInstructions: true },
  // The task tells these to read the file; a scripted model does not.
  'claude-code': { model: 'claude-sonnet-4-5', readsInstructions: false },
  codex: { model: 'gpt-5', readsInstructions: false },
}

export type AgentsProof = {
  proof: RunProof
  scripted: ScriptedAgent
  elsewhere: Elsewhere
  /** The organization's key of the models. */
  modelKey: string
  environmentId: string
}

export const turnMs: number = 10 * 60_000

/** Stores the key of the models, and creates an Environment that passes them on. Returns its id. */
export async function createEnvironment({ world }: RunProof, modelKey: string): Promise<string> {
  const { client, admin } = world.server
  const { organizationId } = admin
  for (const provider of ['anthropic', 'openai'] as const)
    await client.call('setProviderKey', { body: { organizationId, provider, key: modelKey } })
  const { id } = await client.call('createEnvironment', { body: { organizationId, name: 'agents' } })
  await client.call('updateEnvironment', { params: { ref: id }, body: { passAgentsCredentials: true } })
  return id
}

/** Waits until the turn has ended. Throws if the Run has. */
export async function untilTurn(proof: RunProof, asked: Asked, turn: number): Promise<Run> {
  return eventually(
    `the end of turn ${turn}`,
    async () => {
      const [run] = await proof.runsOf(asked)
      if (run === undefined) return null
      const updates = run.events.filter(({ t }) => t === 'pr_updated').length
      if (run.state === 'pr_opened' && updates >= turn - 1) return run
      if (run.state === 'failed' || run.state === 'done' || run.state === 'stopped')
        throw new Error(`the Run is ${run.state}`)
      return null
    },
    turnMs,
  )
}

type Event = Run['events'][number]['t']

export function secondsOf(run: Run, from: Event, to: Event): string {
  return `${((timeOf(run, to) - timeOf(run, from)) / 1000).toFixed(1)} s`
}
