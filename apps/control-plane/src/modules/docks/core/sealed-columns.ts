/** Columns of the Docks module that are sealed (encrypted) under the key of the Dock's organization. */
import type { SealedColumn } from '../../../sealing/index.ts'

const ofOrganization = {
  rowIdColumn: 'id',
  ownerKind: 'organization',
  ownerColumn: 'organization_id',
} as const

export const dockSealedColumns: readonly SealedColumn[] = [
  { table: 'docks', column: 'env_sealed', ...ofOrganization },
  { table: 'docks', column: 'setup_script_sealed', ...ofOrganization },
  { table: 'exec_keys', column: 'outcome_sealed', ...ofOrganization },
]

/** Returns the owner under whose key an organization's columns are sealed. */
export function organizationOwner(id: string): { kind: 'organization'; id: string } {
  return {
    kind: 'organization',
    id,
  }
}
