import type { AuditRecord } from './record-audit.ts'

type Value = string | number | boolean | null

export const auditTextMax = 200
const namesMax = 20

/** Cuts a text to what an entry of the audit log may hold. */
export function auditText(text: string): string {
  return text.slice(0, auditTextMax)
}

/** Joins names for an entry of the audit log: at most 20, the others as their number. */
export function auditNames(names: readonly string[]): string {
  const shown = names.slice(0, namesMax).map((name) => auditText(name))
  return [...shown, ...(names.length > namesMax ? [`${names.length - namesMax} more`] : [])].join(', ')
}

/**
 * Returns the details of an update: each changed field with its new value, and as `fieldBefore` with its old one. Returns
 * null if nothing was changed, so that no entry is written.
 */
export function changesOf<Field extends string>(
  before: Readonly<Record<NoInfer<Field>, Value>>,
  after: Readonly<Partial<Record<Field, Value | undefined>>>,
): AuditRecord['details'] | null {
  const cut = (value: Value): Value => (typeof value === 'string' ? auditText(value) : value)
  const changed = (Object.keys(after) as Field[]).flatMap((field) => {
    const [old, value] = [before[field], after[field]]
    if (value === undefined || value === old) return []
    return [
      [field, cut(value)],
      [`${field}Before`, cut(old)],
    ]
  })
  return changed.length === 0 ? null : Object.fromEntries(changed)
}
