/** Dependencies of this module, and the keys of its objects in the object store. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import type { ObjectStore } from '../../../object-store/index.ts'
import type { SealedColumn, Sealer } from '../../../sealing/index.ts'
import type { HostGateway } from '../../hosts/index.ts'
import type { CopySettings } from './copy-settings.ts'

/** Metrics of copies for operators. */
export type CopyMetrics = {
  recordDrill(result: 'whole' | 'damaged copy' | 'damaged capture'): void
  /** Age of the oldest completed Snapshot that has no verified copy; 0 if all have one. */
  recordDelay(seconds: number): void
  /** True if the last attempt failed because the store is full. */
  recordStoreFull(isFull: boolean): void
}

export type CopyContext = {
  db: Db
  clock: Clock
  logger: Logger
  gateway: HostGateway
  sealer: Sealer
  store: ObjectStore
  /** Identifies this process on leases. */
  owner: string
  settings: CopySettings
  /** Most bytes of a copy's file index. Default 64 MiB; tests lower it. */
  indexBytesMax?: number
  metrics?: CopyMetrics
}

/** The sealed column that holds the copy keys. */
export const copyKeysColumn: SealedColumn = {
  table: 'copy_keys',
  column: 'secret',
  rowIdColumn: 'organization_id',
  ownerKind: 'organization',
  ownerColumn: 'organization_id',
}

/** Objects of an organization have its id as prefix, so that they can all be found when it is deleted. */
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
