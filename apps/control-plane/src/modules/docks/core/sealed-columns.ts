/** What of Docks is stored sealed, under the key of their organization. */
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

/** The owner of all that is sealed in an organization's Docks. */
export function organizationOwner(id: string): { kind: 'organization'; id: string } {
  return {
    kind: 'organization',
    id,
  }
}
