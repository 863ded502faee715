/** A secret's owner and its place in the database. A sealed value is bound to both and does not open anywhere else. */

export type KeyOwner = { kind: 'organization' | 'person' | 'instance'; id: string }

/** Owns the secrets of the instance itself, which belong to no organization and no person. */
export const instanceOwner: KeyOwner = { kind: 'instance', id: '00000000-0000-0000-0000-000000000000' }

/** The place of a secret: a text column of a row. */
export type Place = { table: string; column: string; rowId: string }

/**
 * A column of sealed values. The module that owns the table declares it, so that a rotation finds every row.
 * `ownerColumn` holds the id of the row's owner.
 */
export type SealedColumn = {
  table: string
  column: string
  rowIdColumn: string
  ownerKind: KeyOwner['kind']
  ownerColumn: string
}

/** Returns a short text for an owner, for map keys and messages. */
export function ownerName(owner: KeyOwner): string {
  return `${owner.kind}:${owner.id}`
}
