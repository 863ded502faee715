/** The keys of an organization's copies. They are created for its first copy and sealed under its data key. */
import { type CopyKeys, newCopyKeys, parseCopyKeys, serialiseCopyKeys } from '@dock/copy-format'
import { sql } from 'kysely'
import type { CopyContext } from './copy-context.ts'

type KeyContext = Pick<CopyContext, 'db' | 'sealer' | 'clock'>

const placeOf = (organizationId: string) => ({
  table: 'copy_keys',
  column: 'secret',
  rowId: organizationId,
})
const ownerOf = (organizationId: string) => ({ kind: 'organization' as const, id: organizationId })

const readSecret = async ({ db }: KeyContext, organizationId: string): Promise<string | undefined> =>
  (
    await sql<{ secret: string }>`
      select secret from copy_keys where organization_id = ${organizationId}`.execute(db)
  ).rows[0]?.secret

const makeSecret = async (context: KeyContext, organizationId: string): Promise<string> => {
  const { db, sealer, clock } = context
  const secret = await sealer.seal(
    ownerOf(organizationId),
    placeOf(organizationId),
    serialiseCopyKeys(newCopyKeys()),
  )
  await sql`insert into copy_keys (organization_id, secret, created_at)
    values (${organizationId}, ${secret}, ${clock.now()}) on conflict do nothing`.execute(db)
  // Another process may have inserted its keys first. The stored row counts.
  return (await readSecret(context, organizationId)) ?? secret
}

/** Returns the organization's copy keys, and creates them if it has none. */
export async function ensureCopyKeys(context: KeyContext, organizationId: string): Promise<CopyKeys> {
  const secret = (await readSecret(context, organizationId)) ?? (await makeSecret(context, organizationId))
  return parseCopyKeys(await context.sealer.open(ownerOf(organizationId), placeOf(organizationId), secret))
}
