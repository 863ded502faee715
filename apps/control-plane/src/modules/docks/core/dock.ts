/** A Dock as stored in the database. */
import type { DockState, Role, RuntimeName } from '@dock/contract'

export type DockRow = {
  id: string
  organizationId: string
  workspaceId: string
  name: string
  image: string
  cpus: number
  memoryMiB: number
  diskGiB: number
  runtime: RuntimeName
  state: DockState
  stateChangedAt: Date
  /** Fencing token: only a runtime of this generation may exist. It grows with each boot. */
  generation: number
  ttlSeconds: number | null
  environment: string
  /** Null if the Environment was deleted. */
  environmentId: string | null
  environmentVersion: number | null
  noEnv: boolean
  fromTemplate: string | null
  ip: string | null
  hostId: string | null
  /** True if the host `hostId` keeps the Dock's disk. */
  hasDisk: boolean
  billingPausedAt: Date | null
  setupStatus: 'pending' | 'running' | 'done' | 'failed'
  setupError: string | null
  lastSnapshotAt: Date | null
  recoveries: Date[]
  createdBy: string
  createdAt: Date
  updatedAt: Date
}

/** A Dock together with the caller's role in its organization. */
export type VisibleDock = DockRow & {
  role: Role
  /** True if the Dock may contain secrets that only admins may see. */
  barsMembers: boolean
  /** True if a Run drives the Dock now. */
  isDriven: boolean
}
