/**
 * What operations keep in their rows. Each kind has a schema beside its saga. Together with the row's `kind` the schemas
 * form one union: {@link readData} parses a row once, when an operation is run after its claim.
 */
import * as z from 'zod'
import type { OperationRow } from './operation.ts'

/**
 * Field `dataVersion` of data that has had only one shape. Rows saved before data had versions lack the field and have
 * that same shape, so they are read as version 1. Decision 005 tells how a kind gets its second version.
 */
export const firstVersion = z.literal(1).default(1)

/** Data of every kind tells its version. */
export type VersionedData = { dataVersion: number }

/** Data of a kind that keeps nothing in its row. */
export const emptyData = z.strictObject({ dataVersion: firstVersion })
export type EmptyData = z.infer<typeof emptyData>

/** The row's data does not match the schema of its kind. The row is kept as it is; the message holds no stored value. */
export class InvalidOperationData extends Error {
  override readonly name = 'InvalidOperationData'
  constructor({ id, kind }: OperationRow, { issues }: z.ZodError) {
    const reasons = issues.map(({ path, message }) => `${['data', ...path].join('.')}: ${message}`)
    super(`operation ${id} of kind ${kind} cannot be read: ${reasons.join('; ')}`)
  }
}

/**
 * Replaces the row's data, in the same object, by the parsed data in its current version. Throws
 * {@link InvalidOperationData} and then leaves the row unchanged.
 */
export function readData<Data, Result>(
  schema: z.ZodType<Data>,
  row: OperationRow<unknown, Result>,
): OperationRow<Data, Result> {
  const parsed = schema.safeParse(row.data)
  if (!parsed.success) throw new InvalidOperationData(row, parsed.error)
  return Object.assign(row, { data: parsed.data })
}
