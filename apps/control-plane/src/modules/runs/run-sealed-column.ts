import type { SealedColumn } from '../../sealing/index.ts'

/** The session of an agent, sealed under the key of the Run's organization. */
export const runSealedColumn: SealedColumn = {
  table: 'runs',
  column: 'session_sealed',
  rowIdColumn: 'id',
  ownerKind: 'organization',
  ownerColumn: 'organization_id',
}
