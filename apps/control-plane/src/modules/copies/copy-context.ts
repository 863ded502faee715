/** What the work on copies needs, and where its objects stand in the store. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { ObjectStore } from '../../object-store/index.ts'
import type { SealedColumn, Sealer } from '../../sealing/index.ts'
import type { HostGateway } from '../hosts/index.ts'
import type { CopySettings } from './copy-settings.ts'

/** What operators see of copies. */
export type CopyMetrics = {
  drilled(result: 'whole' | 'damaged copy' | 'damaged capture'): void
  /** Age of the oldest completed Snapshot without a verified copy; 0 where each has one. */
  behind(seconds: number): void
  /** Whether the last attempt found no room in the store. */
  storeFull(isFull: boolean): void
}

export type CopyContext = {
  db: Db
  clock: Clock
  logger: Logger
  gateway: HostGateway
  sealer: Sealer
  store: ObjectStore
  /** Names this process on leases. */
  owner: string
  settings: CopySettings
  /** Characters of a list of files that every copy may have, however small its disk. Default 1 Gi; tests set less. */
  indexLengthMin?: number
  metrics?: CopyMetrics
}

export const copyKeysColumn: SealedColumn = {
  table: 'copy_keys',
  column: 'secret',
  rowIdColumn: 'organization_id',
  ownerKind: 'organization',
  ownerColumn: 'organization_id',
}

/** Objects of an organization are below its id, so that all of them can be found when it goes. */
export function chunksPrefix(organizationId: string): string {
  return `${organizationId}/chunks/`
}
export function copyPrefix(organizationId: string, copyId: string): string {
  return `${organizationId}/copies/${copyId}/`
}
export function manifestKey(organizationId: string, copyId: string): string {
  return `${copyPrefix(organizationId, copyId)}manifest`
}
export function indexKey(organizationId: string, copyId: string, part: number): string {
  return `${copyPrefix(organizationId, copyId)}index-${part}`
}
