import * as z from 'zod'

const most = z.int().min(0).max(2_147_483_647)

/** Limits of an organization: its live Docks and their total size, its stored data, and its definitions. */
const limitFields = {
  docks: most,
  cpus: most,
  memoryMiB: most,
  diskGiB: most,
  storedGiB: most,
  snapshots: most,
  environments: most,
  /** Per Environment. */
  repositories: most,
  templates: most,
  workspaces: most,
}

export const organizationLimitNames = Object.keys(limitFields) as readonly (keyof typeof limitFields)[]

export const organizationLimitValues = z.strictObject(limitFields)
export const organizationLimitUsage = z.strictObject({ ...limitFields, storedGiB: z.number().min(0) })

/** Extension: not part of the specification. */
export const organizationLimits = z.strictObject({
  /** The effective limits: the organization's own value, or the instance's default. */
  limits: organizationLimitValues,
  /** Current usage. `repositories` is the count of the Environment with the most repositories. */
  usage: organizationLimitUsage,
})
export type OrganizationLimits = z.output<typeof organizationLimits>

/** Null resets a limit to the instance's default; an omitted limit is unchanged. */
export const organizationLimitsChange = z
  .strictObject(
    Object.fromEntries(organizationLimitNames.map((name) => [name, most.nullable()])) as {
      [Name in keyof typeof limitFields]: z.ZodNullable<typeof most>
    },
  )
  .partial()
export type OrganizationLimitsChange = z.output<typeof organizationLimitsChange>
