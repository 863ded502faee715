/**
 * Checks the limits on Environments, repositories, Templates, workspaces and organizations, in the transaction that creates one.
 */
import { ServiceError } from '@dock/contract'
import type { Tx } from '../../database/database.ts'
import { countEnvironments, countOrganizationsOf, countWorkspaces, readLimits } from './limit-store.ts'
import { type Limits, limitRefusal } from './organization-limits.ts'

/** Throws `conflict` if the organization has reached its limit of Environments. Locks the organization's row. */
export async function requireRoomForEnvironment(
  tx: Tx,
  organizationId: string,
  defaults: Limits,
): Promise<void> {
  const used = await countEnvironments(tx, organizationId)
  const { environments } = await readLimits(tx, organizationId, defaults)
  if (used >= environments) throw limitRefusal('conflict', 'environments', environments, used)
}

/** Throws `conflict` if `wanted` repositories exceed the limit of an Environment. */
export async function requireRoomForRepositories(
  tx: Tx,
  organizationId: string,
  defaults: Limits,
  wanted: number,
): Promise<void> {
  const { repositories } = await readLimits(tx, organizationId, defaults)
  if (wanted > repositories) throw limitRefusal('conflict', 'repositories', repositories, wanted - 1)
}

/** Throws `conflict` if the organization, which has `used` other Templates, has reached its limit of Templates. */
export async function requireRoomForTemplate(
  tx: Tx,
  organizationId: string,
  defaults: Limits,
  used: number,
): Promise<void> {
  const { templates } = await readLimits(tx, organizationId, defaults)
  if (used >= templates) throw limitRefusal('conflict', 'templates', templates, used)
}

/** Throws `conflict` if the organization has reached its limit of workspaces. The caller holds the lock on its row. */
export async function requireRoomForWorkspace(
  tx: Tx,
  organizationId: string,
  defaults: Limits,
): Promise<void> {
  const used = await countWorkspaces(tx, organizationId)
  const { workspaces } = await readLimits(tx, organizationId, defaults)
  if (used >= workspaces) throw limitRefusal('conflict', 'workspaces', workspaces, used)
}

const askForMore = "ask the instance's operator to raise the limit"

/** Throws `conflict` if the user owns or has created `most` organizations. Locks the user's row. */
export async function requireRoomForOrganization(tx: Tx, userId: string, most: number): Promise<void> {
  if ((await countOrganizationsOf(tx, userId, null)) < most) return
  throw new ServiceError('conflict', {
    message: `You may own ${most} organizations, including those that you created and handed over. Delete one, or ${askForMore}.`,
  })
}

/** Throws `conflict` if the user owns or has created `most` other organizations. Locks the user's row. */
export async function requireRoomForOwner(
  tx: Tx,
  userId: string,
  organizationId: string,
  most: number,
): Promise<void> {
  if ((await countOrganizationsOf(tx, userId, organizationId)) < most) return
  throw new ServiceError('conflict', {
    message: `This user already owns or created ${most} other organizations, which is the limit. Choose another owner, or ${askForMore}.`,
  })
}
