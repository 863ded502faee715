/** Extensions, not part of the specification: what the pages of instance admins show. */
import * as z from 'zod'
import { count, nextCursor, timestamp, uuid } from '../fields.ts'
import { billingPlan } from './billing.ts'

/** Data that a host or the object store keeps and the database does not know. */
export const quarantinedItem = z.strictObject({
  id: uuid,
  /** Null: the object store. */
  hostId: uuid.nullable(),
  kind: z.enum(['dock', 'capture', 'objects']),
  /** `found`: its host has not confirmed it yet. Only `held` items can be adopted or deleted. */
  state: z.enum(['found', 'held']),
  dockId: uuid.nullable(),
  organizationId: uuid.nullable(),
  /** The host name that the Dock had, as its host noted it. */
  hostname: z.string().nullable(),
  sizeBytes: count.nullable(),
  firstSeenAt: timestamp,
})

export const quarantineList = z.strictObject({ items: z.array(quarantinedItem), hasMore: z.boolean() })
export type QuarantineList = z.output<typeof quarantineList>

export const adoptedItem = z.strictObject({
  dockId: uuid,
  snapshotId: uuid,
  organizationId: uuid,
  /** True: the database did not know the Dock, and it is now an archived Dock of the organization. */
  isNewDock: z.boolean(),
})
export type AdoptedItem = z.output<typeof adoptedItem>

/** The release of the runtime that new Docks of a host get. */
export const runtimeRelease = z.strictObject({
  version: z.string(),
  /** Where the host's program comes from. */
  source: z.string().nullable(),
  releasedAt: z.iso.date().nullable(),
  /** True after a year: fixes of the runtime come only with new releases. */
  isOld: z.boolean(),
})
export type RuntimeRelease = z.output<typeof runtimeRelease>

/** What a host has beside its Docks. */
export const hostVersions = z.strictObject({
  isBuilder: z.boolean(),
  /** True if its Docks run in microVMs whose processor is emulated, which only tests should. */
  isEmulated: z.boolean(),
  memAvailableBytes: count.nullable(),
  diskFreeBytes: count.nullable(),
  /** Docks of the warm pool that are ready now. */
  warmDocks: count,
  images: z.array(z.string()),
  /** Null: the host has an agent that does not report it. */
  runtimeRelease: runtimeRelease.nullable(),
})
export type HostVersions = z.output<typeof hostVersions>

/** An organization with its plan. */
export const plannedOrganization = z.strictObject({
  id: uuid,
  name: z.string(),
  slug: z.string(),
  /** Null: no plan. */
  plan: z.string().nullable(),
  active: z.boolean(),
  liveDocks: count,
  /** What the current month has cost so far. */
  spentMicros: count,
})

export const plannedOrganizationPage = z.strictObject({
  organizations: z.array(plannedOrganization),
  /** The plans that an organization can be given. */
  plans: z.array(billingPlan),
  nextCursor,
})
export type PlannedOrganizationPage = z.output<typeof plannedOrganizationPage>

/** The invitation with whose link a person signed up. */
export const usedInvitation = z.strictObject({
  organizationName: z.string(),
  invitedBy: z.string().nullable(),
})

/** A person whose address nobody has verified. */
export const unverifiedPerson = z.strictObject({
  id: uuid,
  name: z.string(),
  email: z.string(),
  createdAt: timestamp,
  /** Null if the person signed up without one, or it is over. */
  invitation: usedInvitation.nullable(),
})

export const unverifiedPeople = z.strictObject({ people: z.array(unverifiedPerson), hasMore: z.boolean() })
export type UnverifiedPeople = z.output<typeof unverifiedPeople>

/** What is recorded when an instance admin vouches for an address. */
export const vouchedAddress = z.strictObject({
  userId: uuid,
  email: z.string(),
  vouchedBy: uuid,
  vouchedAt: timestamp,
})
export type VouchedAddress = z.output<typeof vouchedAddress>
