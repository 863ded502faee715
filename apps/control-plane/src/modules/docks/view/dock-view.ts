/** Converts a Dock's row to the object that callers see. It is an explicit allowlist of fields. */
import type { Dock } from '@dock/contract'
import type { DockRow } from '../core/dock.ts'

/** The whole disk persists across stop and resume. */
const persistentPaths = ['/']

export function viewDock(dock: DockRow): Dock {
  return {
    id: dock.id,
    workspaceId: dock.workspaceId,
    name: dock.name,
    image: dock.image,
    cpus: dock.cpus,
    memoryMiB: dock.memoryMiB,
    diskGiB: dock.diskGiB,
    runtime: dock.runtime,
    persistentPaths,
    state: dock.state,
    ttlSeconds: dock.ttlSeconds,
    environment: dock.environment,
    fromTemplate: dock.fromTemplate,
    ip: dock.ip,
    hostId: dock.hostId,
    billingPausedAt: dock.billingPausedAt?.toISOString() ?? null,
    setupStatus: dock.setupStatus,
    setupError: dock.setupError,
    lastSnapshotAt: dock.lastSnapshotAt?.toISOString() ?? null,
    stateChangedAt: dock.stateChangedAt.toISOString(),
    createdAt: dock.createdAt.toISOString(),
    updatedAt: dock.updatedAt.toISOString(),
  }
}
