/** A caller of a route that names an object by id. Its access is checked when the route handler reads the object's row. */
import { type AccessTerms, type Role, roleReaches, ServiceError } from '@dock/contract'
import type { Caller } from './caller.ts'

declare const checked: unique symbol

/**
 * A handler reads the object and the caller's role in one query, and passes the row to {@link Visitor.admit}. The
 * HTTP layer discards the result of a handler that never called it.
 */
export type Visitor = Caller & {
  /** Returns the row. Throws `terms.outsider` if there is no row, and `forbidden` if the role in it is too low. */
  admit<Row extends { role: Role }>(row: Row | null | undefined): Row
  /** Returns true once {@link Visitor.admit} has returned a row. */
  readonly admitted: () => boolean
  readonly [checked]: 'visitor'
}

/** Creates the visitor for a route with these access terms. */
export function createVisitor(caller: Caller, terms: AccessTerms): Visitor {
  let admitted = false
  return {
    ...caller,
    admit: (row) => {
      const found = requireRole(row, terms)
      admitted = true
      return found
    },
    admitted: () => admitted,
  } as Visitor
}

/**
 * Returns the row if its role reaches `terms.role`. Throws `terms.outsider` if there is no row, so that outsiders
 * cannot tell whether an object exists, and `forbidden` if the role is too low. All access checks go through this
 * function.
 */
export function requireRole<Row extends { role: Role }>(
  row: Row | null | undefined,
  terms: AccessTerms,
): Row {
  if (!row) throw new ServiceError(terms.outsider)
  if (!roleReaches(row.role, terms.role)) throw new ServiceError('forbidden')
  return row
}
