/** Whose a secret is, and where its row stands: both are bound to the sealed value, which opens nowhere else. */

export type KeyOwner = { kind: 'organization' | 'person'; id: string }

/** One secret: a text column of one row. */
export type Place = { table: string; column: string; rowId: string }

/**
 * A column of sealed values, declared by the module that owns the table, so that a rotation finds every row. Each row
 * names its owner itself: `ownerColumn` holds the id of the organization or person.
 */
export type SealedColumn = {
  table: string
  column: string
  rowIdColumn: string
  ownerKind: KeyOwner['kind']
  ownerColumn: string
}

/** Short text of an owner, for maps and messages. */
export function ownerName(owner: KeyOwner): string {
  return `${owner.kind}:${owner.id}`
}
