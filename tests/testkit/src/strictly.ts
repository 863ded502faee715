/**
 * Readers of the host protocol ignore fields that they do not know. What one version sends must nevertheless be in its own
 * protocol exactly. Tests only.
 */
import * as z from 'zod'

/** Lists the fields of `value` that parsing dropped, as paths. */
const droppedFields = (value: unknown, parsed: unknown, path = ''): string[] => {
  if (typeof value !== 'object' || value === null || typeof parsed !== 'object' || parsed === null) return []
  const kept = parsed as Record<string, unknown>
  return Object.entries(value).flatMap(([name, field]) => {
    if (field === undefined) return []
    return name in kept ? droppedFields(field, kept[name], `${path}.${name}`) : [`${path}.${name}`]
  })
}

/** Throws if the value is not in the protocol, or has a field that the protocol does not name. */
export function checkStrictly(schema: z.ZodType, value: unknown, what: string): void {
  const parsed = schema.safeParse(value)
  if (!parsed.success)
    throw new Error(`${what} is not in the host protocol: ${z.prettifyError(parsed.error)}`)
  const dropped = droppedFields(value, parsed.data)
  if (dropped.length > 0)
    throw new Error(`${what} has fields that the host protocol lacks: ${dropped.join(', ')}`)
}
