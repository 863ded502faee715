/** A tenant tries to use unlimited resources: Docks, stored results of commands, versions of Environments. */
import { randomUUID } from 'node:crypto'
import type { Dock } from '@dock/contract'
import { DockApiError } from '@dock/sdk'
import pg from 'pg'
import { type BenchServer, withServer } from '../../../bench/parts/bench-server.ts'
import { createDock } from '../../e2e/support/dock.ts'
import type { Report } from './report.ts'

const docksMax = 3
const mebibyte = 2 ** 20

/** Runs a query for a number on the server's database. */
const count = async (server: BenchServer, query: string): Promise<number> => {
  const client = new pg.Client({ host: `${server.dataDir}/control/run`, user: 'dock', database: 'postgres' })
  await client.connect()
  try {
    return Number((await client.query(query)).rows[0].count)
  } finally {
    await client.end()
  }
}

const failureOf = async (work: Promise<unknown>): Promise<DockApiError | null> => {
  try {
    await work
    return null
  } catch (error) {
    if (error instanceof DockApiError) return error
    throw error
  }
}

/** Adds a neighbor: another organization with a workspace. */
const addNeighbour = async ({ client, admin }: BenchServer): Promise<BenchServer['admin']> => {
  const organization = await client.call('createOrganization', {
    body: { name: 'Neighbour', slug: 'neighbour' },
  })
  const workspaces = await client.call('listWorkspaces', { params: { orgId: organization.id } })
  const first = workspaces[0]
  if (!first) throw new Error('the new organization has no workspace')
  return { ...admin, organizationId: organization.id, workspaceId: first.id }
}

export function hostileTenant(report: Report): Promise<void> {
  return withServer({ DOCK_WARM_POOL: '0', DOCK_LIMIT_DOCKS: String(docksMax) }, async (server) => {
    const { client, admin } = server
    const made: Dock[] = []
    let refusal: DockApiError | null = null
    while (!refusal && made.length < docksMax + 3) {
      refusal = await failureOf(createDock(server).then((dock) => made.push(dock)))
    }
    const neighbour = await createDock({ client, admin: await addNeighbour(server) })
    report.attack({
      what: 'creates Docks without end',
      control: made.length > 0,
      holds:
        refusal?.code === 'concurrency_exceeded' && made.length <= docksMax && neighbour.state === 'ready',
      seen: `${made.length} Docks, then ${refusal?.code ?? 'no refusal'} (${refusal?.message ?? ''}); a neighbour gets one`,
    })

    const dock = made[0]
    if (dock) {
      const noise = 'head -c 65536 /dev/zero; head -c 65536 /dev/zero >&2'
      const one = async (id: string): Promise<unknown> =>
        client.call('execInDock', {
          params: { id },
          headers: { 'idempotency-key': randomUUID() },
          body: { command: noise },
        })
      await one(dock.id)
      const sumOfKept =
        'select coalesce(sum(octet_length(outcome_sealed)), 0)::bigint as count from exec_keys'
      const ofOne = await count(server, sumOfKept)
      for (let round = 0; round < 15; round++)
        await Promise.all(Array.from({ length: 3 }, () => one(dock.id)))
      const kept = await count(server, sumOfKept)
      report.attack({
        what: '46 keyed commands whose results are a megabyte each',
        control: ofOne > mebibyte / 4,
        holds: kept <= 10 * mebibyte && kept < 46 * ofOne,
        seen: `${(kept / mebibyte).toFixed(1)} MiB are stored, one result takes ${(ofOne / mebibyte).toFixed(1)} MiB`,
      })
    }

    const body = { organizationId: admin.organizationId, name: 'greedy' }
    const { id: ref } = await client.call('createEnvironment', { body })
    let versions = 0
    let stopped: DockApiError | null = null
    for (; versions < 260 && !stopped; versions++) {
      const secrets = { envContents: `VARIABLE=${versions}`, secretFiles: [] }
      stopped = await failureOf(client.call('replaceEnvironmentSecrets', { params: { ref }, body: secrets }))
    }
    report.attack({
      what: 'makes a version of an Environment for each change',
      control: versions > 1,
      holds: stopped?.code === 'rate_limited',
      seen: `${versions - 1} versions, then ${stopped?.code ?? 'no refusal'}`,
    })
  })
}
