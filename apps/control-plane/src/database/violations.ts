/** What PostgreSQL says when a row breaks a named rule of the schema. */
type Violation = { code?: string; constraint?: string }

/** Whether a write failed because the unique constraint or index of this name holds such a row already. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  const violation = error as Violation
  return violation?.code === '23505' && violation.constraint === constraint
}

/** Whether a write failed because rows refer to what it would have taken away, or to what is gone. */
export function isForeignKeyViolation(error: unknown): boolean {
  return (error as Violation)?.code === '23503'
}
