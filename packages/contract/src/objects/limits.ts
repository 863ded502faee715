import * as z from 'zod'

const most = z.int().min(0).max(2_147_483_647)

/** What one organization may have: live Docks and their sizes together, what it stores, and what it defines. */
const limitFields = {
  docks: most,
  cpus: most,
  memoryMiB: most,
  diskGiB: most,
  storedGiB: most,
  snapshots: most,
  environments: most,
  /** In one Environment. */
  repositories: most,
  templates: most,
}

/** Names of the limits. */
export const organizationLimitNames = Object.keys(limitFields) as readonly (keyof typeof limitFields)[]

/** Extension: not part of the specification. */
export const organizationLimits = z.strictObject({
  /** What holds: set for the organization, or else the instance's default. */
  limits: z.strictObject(limitFields),
  /** What is in use; `repositories` is that of the Environment with the most. */
  usage: z.strictObject({ ...limitFields, storedGiB: z.number().min(0) }),
})
export type OrganizationLimits = z.output<typeof organizationLimits>

/** Null returns a limit to the instance's default; one that is left out stays as it is. */
export const organizationLimitsChange = z
  .strictObject(
    Object.fromEntries(organizationLimitNames.map((name) => [name, most.nullable()])) as {
      [Name in keyof typeof limitFields]: z.ZodNullable<typeof most>
    },
  )
  .partial()
export type OrganizationLimitsChange = z.output<typeof organizationLimitsChange>
