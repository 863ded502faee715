/** The limits of organizations: their defaults, and the sentences in which a limit refuses something. */
import { type OrganizationLimits, organizationLimitNames, ServiceError } from '@dock/contract'

/** What an organization may have of each thing. */
export type Limits = OrganizationLimits['limits']
export type LimitName = keyof Limits

/** What the instance allows: defaults for each organization, and how many organizations one person may own or have made. */
export type InstanceLimits = { organization: Limits; organizationsPerPerson: number }

/** Defaults that an operator changes with `DOCK_LIMIT_…`. */
export const usualLimits: InstanceLimits = {
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
  },
  organizationsPerPerson: 20,
}

/** No limit that a test meets. */
export const generousLimits: InstanceLimits = {
  organization: Object.fromEntries(organizationLimitNames.map((name) => [name, 2_147_483_647])) as Limits,
  organizationsPerPerson: 2_147_483_647,
}

const askOperator = "or ask the instance's operator to raise the limit"

const sentences: Record<LimitName, (most: number, used: number) => string> = {
  docks: (most) => `The organization may have ${most} live Docks at once. Stop one, ${askOperator}.`,
  cpus: (most, used) =>
    `The organization's live Docks may have ${most} cpus together and have ${used}. Stop a Dock, choose fewer cpus, ${askOperator}.`,
  memoryMiB: (most, used) =>
    `The organization's live Docks may have ${most} memoryMiB together and have ${used}. Stop a Dock, choose less memory, ${askOperator}.`,
  diskGiB: (most, used) =>
    `The organization's live Docks may have ${most} diskGiB together and have ${used}. Stop a Dock, choose a smaller disk, ${askOperator}.`,
  storedGiB: (most) =>
    `The organization may store ${most} GiB of Snapshots and Templates (storedGiB). Delete some, ${askOperator}.`,
  snapshots: (most) => `The organization may keep ${most} Snapshots. Delete some, ${askOperator}.`,
  environments: (most) => `The organization may have ${most} Environments. Delete one, ${askOperator}.`,
  repositories: (most) => `An Environment may have ${most} repositories. Remove one, ${askOperator}.`,
  templates: (most) => `The organization may keep ${most} Templates. Delete one, ${askOperator}.`,
}

/** Starting compute past a limit is `concurrency_exceeded`, defining one thing more is `conflict`. */
export function limitRefusal(
  code: 'concurrency_exceeded' | 'conflict',
  name: LimitName,
  most: number,
  used: number,
): ServiceError {
  return new ServiceError(code, { message: sentences[name](most, used) })
}
