/** The operator's plans: the text of `plans.json`, validated. */
import * as z from 'zod'

const most = z.int().min(0).max(2_147_483_647)
/** Micro-units of the currency. Far below 2^53, so that sums of them are exact. */
const micros = z.int().min(0).max(1_000_000_000_000_000)

/**
 * A price in micro-units. A GiB-second costs about one, so a price may have six decimals, as a string. The digits before
 * them are bounded, so that the cost of a day fits a bigint: no price may keep a day of the ledger from being closed.
 */
const priceOf = (digits: number) =>
  z
    .union(
      [
        z
          .int()
          .min(0)
          .max(10 ** digits - 1),
        z.string().regex(new RegExp(`^\\d{1,${digits}}(\\.\\d{1,6})?$`)),
      ],
      `must be micro-units of the currency: a whole number of at most ${digits} digits, or a string such as "1.388889" with at most 6 decimals`,
    )
    .transform(String)
const pricePerSecond = priceOf(10)
const pricePerMonth = priceOf(13)

const plan = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be 1 to 64 lowercase letters, digits, dashes or underscores'),
  concurrentDocks: most.nullable(),
  concurrentFastRuns: most.nullable(),
  monthlyBudget: micros.nullable(),
  prices: z.strictObject({
    vcpuSecond: pricePerSecond,
    memoryGiBSecond: pricePerSecond,
    diskGiBMonth: pricePerMonth,
    snapshotGiBMonth: pricePerMonth,
  }),
})

const planFile = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters, as in ISO 4217'),
  plans: z.array(plan).max(1000),
})

export type PlanFile = z.output<typeof planFile>

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  )

/** Parses the text of the file. Throws an error with one line for each field to correct. */
export function parsePlans(text: string): PlanFile {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new Error(`plans: not valid JSON: ${(error as Error).message}`)
  }
  const result = planFile.safeParse(json)
  if (!result.success)
    throw new Error(
      result.error.issues
        .map(({ path, message }) => `plans: ${fieldOf(path) || 'file'}: ${message}`)
        .join('\n'),
    )
  const names = result.data.plans.map(({ name }) => name)
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index)
  if (twice >= 0) throw new Error(`plans: plans[${twice}].name: ${names[twice]} is used twice`)
  return result.data
}
