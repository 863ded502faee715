/**
 * Measures what a full Environment (100 variables, 20 secret files) adds to a create, compared with `noEnv` in
 * alternating samples. Target: at most 30 ms more at p50, with and without the warm pool.
 *
 *   script/bench environment     DOCK_BENCH_COUNT (20) samples of each
 */
import { deleteDock } from '../tests/e2e/support/dock.ts'
import { compare, type Figure, percentile } from './figures.ts'
import { type BenchServer, print, usualSize, waitForWarmSandboxes, withServer } from './parts/bench-server.ts'

const count = Number(process.env.DOCK_BENCH_COUNT ?? 20)
const warmPoolSize = 4
const allowedMs = 30

const fillEnvironment = async ({ client, admin }: BenchServer): Promise<void> => {
  const body = { organizationId: admin.organizationId, name: 'full' }
  const { id } = await client.call('createEnvironment', { body })
  const variables = Array.from({ length: 100 }, (_, index) => `VARIABLE_${index}=${'v'.repeat(100)}`)
  const secretFiles = Array.from({ length: 20 }, (_, index) => ({
    path: `secrets/${index % 4}/file-${index}`,
    contents: 's'.repeat(4096),
  }))
  const secrets = { envContents: variables.join('\n'), secretFiles }
  await client.call('replaceEnvironmentSecrets', { params: { ref: id }, body: secrets })
}

const measure = async (server: BenchServer, name: string, isWarm: boolean): Promise<void> => {
  const { client, admin } = server
  const create = async (figure: Figure, given: { environment: string } | { noEnv: true }): Promise<void> => {
    if (isWarm) await waitForWarmSandboxes(server, warmPoolSize)
    const begin = performance.now()
    const body = { workspaceId: admin.workspaceId, ...usualSize, ...given }
    const { id } = await client.call('createDock', { body })
    figure.samplesMs.push(performance.now() - begin)
    await deleteDock(server, id)
  }
  const without: Figure = { name: `${name}, noEnv`, samplesMs: [] }
  const full: Figure = { name: `${name}, 100 variables, 20 files`, samplesMs: [] }
  await create({ name: 'warm-up', samplesMs: [] }, { noEnv: true })
  for (let index = 0; index < count; index++) {
    await create(without, { noEnv: true })
    await create(full, { environment: 'full' })
  }
  const more = percentile(full, 0.5) - percentile(without, 0.5)
  print(compare(without, undefined))
  print(`${compare(full, undefined)}   ${more.toFixed(1)} ms more: ${more <= allowedMs ? 'holds' : 'MISSED'}`)
}

for (const [name, size] of [
  ['cold', 0],
  ['from the warm pool', warmPoolSize],
] as const)
  await withServer({ DOCK_WARM_POOL: String(size) }, async (server) => {
    await fillEnvironment(server)
    await measure(server, `create ${name}`, size > 0)
  })
