/** A Dock as it is stored, and who may see it. */
import type { DockState, Role } from '@dock/contract'

export type DockRow = {
  id: string
  organizationId: string
  workspaceId: string
  name: string
  image: string
  cpus: number
  memoryMiB: number
  diskGiB: number
  runtime: 'gvisor' | 'microvm'
  state: DockState
  stateChangedAt: Date
  /** Fencing number of the one runtime that may exist. */
  generation: number
  ttlSeconds: number | null
  environment: string
  /** Null once the Environment is deleted. */
  environmentId: string | null
  environmentVersion: number | null
  noEnv: boolean
  fromTemplate: string | null
  ip: string | null
  hostId: string | null
  /** Whether `hostId` keeps a disk of it. */
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
  /** It has, or its disk may have, what only admins may see. */
  barsMembers: boolean
}
