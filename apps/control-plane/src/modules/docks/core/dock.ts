/** A Dock as stored in the database. */
import type { Role } from '@dock/contract'
import type { Renamed } from '../../../database/columns.ts'

/** The columns that work on Docks reads, by their names in a {@link DockRow}. */
export const dockFields = {
  id: 'id',
  organizationId: 'organization_id',
  workspaceId: 'workspace_id',
  name: 'name',
  image: 'image',
  cpus: 'cpus',
  memoryMiB: 'memory_mib',
  diskGiB: 'disk_gib',
  runtime: 'runtime',
  state: 'state',
  stateChangedAt: 'state_changed_at',
  // Fencing token: only a runtime of this generation may exist. It grows with each boot.
  generation: 'generation',
  ttlSeconds: 'ttl_seconds',
  environment: 'environment',
  // Null if the Environment was deleted.
  environmentId: 'environment_id',
  environmentVersion: 'environment_version',
  noEnv: 'no_env',
  fromTemplate: 'from_template',
  ip: 'ip',
  hostId: 'host_id',
  // True if the host `hostId` keeps the Dock's disk.
  hasDisk: 'has_disk',
  billingPausedAt: 'billing_paused_at',
  setupStatus: 'setup_status',
  setupError: 'setup_error',
  lastSnapshotAt: 'last_snapshot_at',
  recoveries: 'recoveries',
  createdBy: 'created_by',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const

export type DockRow = Renamed<'docks', typeof dockFields>

/** A Dock together with the caller's role in its organization. */
export type VisibleDock = DockRow & {
  role: Role
  /** True if the Dock may contain secrets that only admins may see. */
  barsMembers: boolean
  /** True if a Run drives the Dock now. */
  isDriven: boolean
}
