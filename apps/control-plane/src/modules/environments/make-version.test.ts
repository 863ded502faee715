import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { emptyBundle } from './bundle.ts'
import { sealBundle } from './bundle-sealing.ts'
import { readEnvironmentRow } from './environment-store.ts'
import { viewEnvironment } from './environment-view.ts'
import { makeVersion, type VersionChange } from './make-version.ts'

let world: TestWorld
useTestWorld(async (fresh) => {
  world = fresh
})

it.each<[string, VersionChange]>([
  ['variables', { bundle: (bundle) => ({ ...bundle, variables: { A: '1' } }) }],
  ['posture', { posture: { passDockCredentials: true } }],
])('a change of %s drops saved files without a name, which no route can remove', async (_, change) => {
  const { db, organizationId, modules } = world
  const { rows } = await sql<{ id: string }>`select id from environments
    where organization_id = ${organizationId}`.execute(db)
  const row = (await readEnvironmentRow(db, rows[0]!.id))!
  const files = { '.': 'x', './.': 'x', './kept': 'x' }
  const place = { organizationId, versionId: row.versionId }
  const sealed = await sealBundle(modules.context.sealer, place, { ...emptyBundle, files })
  const after = await makeVersion(modules.context, { ...row, sealed }, change)
  expect(viewEnvironment(after).files).toEqual([{ path: './kept', size: 1 }])
})
