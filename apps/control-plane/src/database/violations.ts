/** Recognizes PostgreSQL's errors for violated constraints. */
type Violation = { code?: string; constraint?: string }

/** True if a write failed because it violates the unique constraint or index of this name. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  const violation = error as Violation
  return violation?.code === '23505' && violation.constraint === constraint
}

/**
 * True if a write failed because it would delete a row that others reference, or reference a row that does not exist.
 */
export function isForeignKeyViolation(error: unknown): boolean {
  return (error as Violation)?.code === '23503'
}
