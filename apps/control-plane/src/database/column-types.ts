/** Types of JSON columns that no contract names; see `generate/narrow-types.ts`. */

/** What a mail says that several alerts share. */
export type GatheredAlerts = {
  title: string
  body: string
  link: string
  linkLabel: string
  items: string[]
}
