/** The machine of a Run: its id, its memory, and its end between two turns. */
import type { Run } from '@dock/contract'
import { wordsInMemory } from '../../e2e/support/search-memory.ts'
import { type Asked, eventually, type RunProof } from '../runs/run-proof.ts'
import type { AgentsProof, Target } from './agents-proof.ts'

/** Returns the id of the Run's machine, or null if it has none without a Dock. */
const findFastMachine = async ({ database }: RunProof, runId: string): Promise<string | null> => {
  const { rows } = await database.query<{ id: string }>(
    `select id from run_machines where run_id = $1 and state <> 'ended'`,
    [runId],
  )
  return rows[0]?.id ?? null
}

export async function machineOf(proof: RunProof, { id, dockId }: Run): Promise<string> {
  const machine = dockId ?? (await findFastMachine(proof, id))
  if (machine === null) throw new Error('the Run has no machine')
  return machine
}

/** Lets the time pass for which the machine is kept, and waits until it has gone: archived, or ended. */
export async function endKeeping(proof: RunProof, target: Target, run: Run): Promise<void> {
  const { client } = proof.world.server
  await proof.database.query('update runs set archive_at = now() where id = $1', [run.id])
  await eventually('the end of the machine', async () => {
    if (target === 'fast') return (await findFastMachine(proof, run.id)) === null ? true : null
    const { state } = await client.call('readDock', { params: { id: run.dockId! } })
    return state === 'archived' ? true : null
  })
}

/** Searches the machine's memory while the agent waits for the model. */
export async function searchMemory(
  { proof, scripted, modelKey }: AgentsProof,
  name: string,
  asked: Asked,
): Promise<void> {
  const [run] = await proof.runsOf(asked)
  const tokens = [...proof.world.github.world.tokens].flatMap(([token, { kind }]) =>
    kind === 'installation' ? token : [],
  )
  const words = [scripted.marker, modelKey, ...tokens]
  const found = await wordsInMemory(await machineOf(proof, run!), words)
  const { check } = proof
  check(`${name}: control: its memory has what the model said`, found.has(scripted.marker))
  check(`${name}: no key of a model is in its memory`, !found.has(modelKey))
  check(
    `${name}: no token of GitHub is in its memory`,
    tokens.length > 0 && !tokens.some((token) => found.has(token)),
    `${tokens.length} issued`,
  )
}
