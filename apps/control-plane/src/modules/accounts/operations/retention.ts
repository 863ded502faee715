/** GET and PATCH /v1/account/retention: an organization's zero-data-retention policy. */
import { retentionConfirmation, ServiceError } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Member } from '../member.ts'
import type { AccountContext } from './profile.ts'

/** Returns true if the zero-data-retention policy is on. Docks of the organization then keep no data once they stop. */
export async function retentionEnabled(db: Db, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('organizations')
    .select('retention_enabled')
    .where('id', '=', organizationId)
    .executeTakeFirst()
  return row?.retention_enabled ?? false
}

export async function readRetention(db: Db, member: Member): Promise<{ enabled: boolean }> {
  return {
    enabled: await retentionEnabled(db, member.organizationId),
  }
}

/** Turns the policy on or off. Throws `confirm_required` if it is turned on without the exact confirmation phrase. */
export async function updateRetention(
  { db, clock }: AccountContext,
  member: Member,
  body: { enabled: boolean; confirmation?: string | undefined },
): Promise<{ enabled: boolean }> {
  const { enabled } = body
  if (enabled && body.confirmation !== retentionConfirmation) {
    throw new ServiceError('confirm_required', {
      message: `To confirm, set confirmation to '${retentionConfirmation}'.`,
    })
  }
  const now = clock.now()
  await db
    .updateTable('organizations')
    .set((set) => ({
      retention_enabled: enabled,
      retention_since: enabled ? set.fn.coalesce('retention_since', set.val(now)) : null,
      updated_at: now,
    }))
    .where('id', '=', member.organizationId)
    .execute()
  return { enabled }
}
