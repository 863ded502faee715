/** A caller who names a thing of an organization's, before its row has told whether they may. */
import { type AccessTerms, type Role, roleReaches, ServiceError } from '@dock/contract'
import type { Caller } from './caller.ts'

declare const checked: unique symbol

/**
 * Whoever reads the thing reads the caller's role beside it in the same query and passes both through
 * {@link Visitor.admit}. The HTTP layer answers nothing of a route that ended without having asked.
 */
export type Visitor = Caller & {
  /** The row, once the role in it is enough. Throws the outsiders' code for no row and `forbidden` for a low role. */
  admit<Row extends { role: Role }>(row: Row | null | undefined): Row
  /** Whether {@link Visitor.admit} has let them in. */
  readonly admitted: () => boolean
  readonly [checked]: 'visitor'
}

/** Makes the visitor on a route's terms. */
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
 * The one rule about who may act in an organization: outsiders get what is said of absent things, members what their
 * role allows.
 */
export function requireRole<Row extends { role: Role }>(
  row: Row | null | undefined,
  terms: AccessTerms,
): Row {
  if (!row) throw new ServiceError(terms.outsider)
  if (!roleReaches(row.role, terms.role)) throw new ServiceError('forbidden')
  return row
}
