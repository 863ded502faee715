/** The limits of organizations: their defaults, and the error messages for each limit. */
import { type OrganizationLimits, organizationLimitNames, ServiceError } from '@dock/contract'

/** The maximum of each resource that an organization may have. */
export type Limits = OrganizationLimits['limits']
export type LimitName = keyof Limits

/** The default limits of each organization, and the number of organizations that a user may own or have created. */
export type InstanceLimits = { organization: Limits; organizationsPerPerson: number }

/**
 * The defaults. An operator changes those of Docks and storage with `DOCK_LIMIT_…`, and each of them for a single
 * organization.
 */
export const defaultLimits: InstanceLimits = {
  organization: {
    docks: 100,
    cpus: 400,
    memoryMiB: 800 * 1024,
    diskGiB: 4096,
    storedGiB: 2048,
    snapshots: 20_000,
    environments: 100,
    repositories: 50,
    templates: 10,
    workspaces: 100,
  },
  organizationsPerPerson: 20,
}

/** Limits that no test reaches. */
export const generousLimits: InstanceLimits = {
  organization: Object.fromEntries(organizationLimitNames.map((name) => [name, 2_147_483_647])) as Limits,
  organizationsPerPerson: 2_147_483_647,
}

const askOperator = "or ask the instance's operator to raise the limit"

const messages: Record<LimitName, (most: number, used: number) => string> = {
  docks: (most) => `The organization may have ${most} live Docks at once. Stop one, ${askOperator}.`,
  cpus: (most, used) =>
    `The organization's live Docks may use ${most} cpus in total and already use ${used}. Stop a Dock, choose fewer cpus, ${askOperator}.`,
  memoryMiB: (most, used) =>
    `The organization's live Docks may use ${most} memoryMiB in total and already use ${used}. Stop a Dock, choose less memory, ${askOperator}.`,
  diskGiB: (most, used) =>
    `The organization's live Docks, and those in error that keep their disk, may use ${most} diskGiB in total and already use ${used}. Stop a Dock, delete one in error, choose a smaller disk, ${askOperator}.`,
  storedGiB: (most) =>
    `The organization may store ${most} GiB of Snapshots and Templates (storedGiB). Delete some, ${askOperator}.`,
  snapshots: (most) => `The organization may keep ${most} Snapshots. Delete some, ${askOperator}.`,
  environments: (most) => `The organization may have ${most} Environments. Delete one, ${askOperator}.`,
  repositories: (most) => `An Environment may have ${most} repositories. Remove one, ${askOperator}.`,
  templates: (most) => `The organization may keep ${most} Templates. Delete one, ${askOperator}.`,
  workspaces: (most) => `The organization may have ${most} workspaces. Delete one, ${askOperator}.`,
}

/** Returns the error for a limit: `concurrency_exceeded` for starting compute, `conflict` for creating a resource. */
export function limitRefusal(
  code: 'concurrency_exceeded' | 'conflict',
  name: LimitName,
  most: number,
  used: number,
): ServiceError {
  return new ServiceError(code, { message: messages[name](most, used) })
}
