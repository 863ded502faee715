/** Refusals of one Environment, repository, Template or organization more. Each is judged inside the transaction that makes it. */
import { ServiceError } from '@dock/contract'
import type { Tx } from '../../database/database.ts'
import { countEnvironments, countOrganizationsOf, readLimits } from './limit-store.ts'
import { type Limits, limitRefusal } from './organization-limits.ts'

/** Throws `conflict` when the organization has as many Environments as it may. Holds the organization's row. */
export async function requireRoomForEnvironment(
  tx: Tx,
  organizationId: string,
  defaults: Limits,
): Promise<void> {
  const used = await countEnvironments(tx, organizationId)
  const { environments } = await readLimits(tx, organizationId, defaults)
  if (used >= environments) throw limitRefusal('conflict', 'environments', environments, used)
}

/** Throws `conflict` when an Environment would have more repositories than it may. */
export async function requireRoomForRepositories(
  tx: Tx,
  organizationId: string,
  defaults: Limits,
  wanted: number,
): Promise<void> {
  const { repositories } = await readLimits(tx, organizationId, defaults)
  if (wanted > repositories) throw limitRefusal('conflict', 'repositories', repositories, wanted - 1)
}

/** Throws `conflict` when the organization keeps `used` other Templates and may have no more. */
export async function requireRoomForTemplate(
  tx: Tx,
  organizationId: string,
  defaults: Limits,
  used: number,
): Promise<void> {
  const { templates } = await readLimits(tx, organizationId, defaults)
  if (used >= templates) throw limitRefusal('conflict', 'templates', templates, used)
}

const askForMore = "ask the instance's operator to raise the limit"

/** Throws `conflict` when the person may make no other organization. Holds the person's row. */
export async function requireRoomForOrganization(tx: Tx, userId: string, most: number): Promise<void> {
  if ((await countOrganizationsOf(tx, userId, null)) < most) return
  throw new ServiceError('conflict', {
    message: `One person may own ${most} organizations, with those that they made and handed over. Delete one, or ${askForMore}.`,
  })
}

/** Throws `conflict` when the person may not become an owner of this organization too. Holds the person's row. */
export async function requireRoomForOwner(
  tx: Tx,
  userId: string,
  organizationId: string,
  most: number,
): Promise<void> {
  if ((await countOrganizationsOf(tx, userId, organizationId)) < most) return
  throw new ServiceError('conflict', {
    message: `This person owns or made ${most} other organizations, as many as one may. Choose another owner, or ${askForMore}.`,
  })
}
