/** Begins a Run whose agent opens connections to the doors of its Dock, for git, models and reports, until it is stopped. */
import { setTimeout as delay } from 'node:timers/promises'
import type { RunsWorld } from '../../e2e/support/runs-world.ts'
import { doorProgram } from './door-program.ts'

export type Doors = {
  /** Returns how often each status came; `-` is a connection that was left before one. */
  count(): Promise<Record<string, number>>
  stop(): Promise<void>
}

const name = 'acme/app'
const beginMs = 120_000
/** The most that a Run may take, and spend. */
const lasting = { timeoutSeconds: 6 * 3600, budgetCents: 1_000_000 }

export async function openDoors(world: RunsWorld, seed: number): Promise<Doors> {
  const { server, github } = world
  const { client, admin } = server
  const { organizationId } = admin
  const { id: environmentId } = await client.call('createEnvironment', {
    body: { organizationId, name: 'doors' },
  })
  await client.call('updateEnvironment', {
    params: { ref: environmentId },
    body: { passAgentsCredentials: true },
  })
  await client.call('setProviderKey', {
    body: { organizationId, provider: 'openai', key: 'key-of-the-model' },
  })
  const files = { large: 'line of a file\n'.repeat(50_000), 'door.py': doorProgram }
  const { installationId, repositories } = await world.link([name], files)
  await world.configure(installationId, `exec python3 door.py ${seed} ${name} "$(git rev-parse HEAD)"`, {
    ...{ executionTarget: 'dock', environmentId, ...lasting },
  })
  await github.openIssue(repositories[0]!, 'ada', { title: 'Wait', body: `${world.mention} Please.` })
  for (const deadline = Date.now() + beginMs; Date.now() < deadline; await delay(100)) {
    const [run] = await world.listRuns()
    if (run?.failureReason) throw new Error(`the Run failed: ${run.failureReason}`)
    if (!run || !(await world.readLog(run.id)).includes('door ')) continue
    const { id } = run
    return {
      count: async () => {
        const counts: Record<string, number> = {}
        for (const [, status] of (await world.readLog(id)).matchAll(/^door (\S+)$/gm))
          counts[status!] = (counts[status!] ?? 0) + 1
        return counts
      },
      stop: async () => void (await client.call('stopRun', { params: { id }, query: {} })),
    }
  }
  throw new Error('the Run did not begin')
}
