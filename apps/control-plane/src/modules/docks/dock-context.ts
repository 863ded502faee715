/** What every operation on Docks works with; made once by the composition. */

import type { Clock, Logger } from '@dock/foundation'
import { newOperationId } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Cause, OperationRow, OperationRunner } from '../../engine/index.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { Sealer } from '../../sealing/index.ts'
import type { Caller, Visitor } from '../accounts/index.ts'
import type {
  CaptureFile,
  ExecOutcome,
  HostGateway,
  PlacementPolicy,
  StartFailures,
  WarmPools,
} from '../hosts/index.ts'
import type { Limits, Quota } from '../limits/index.ts'
import type { DockActivity } from './activity/dock-activity.ts'
import type { VisibleDock } from './core/dock.ts'
import { findVisibleDock } from './core/dock-store.ts'
import type { TemplateSource } from './core/kept-snapshot.ts'
import type { TtlClock } from './core/ttl-clock.ts'
import type { DockUsage } from './usage/dock-usage.ts'

export type DockContext = {
  db: Db
  /** The instance's, which generations carry. */
  epoch(): number
  clock: Clock
  logger: Logger
  gateway: HostGateway
  runner: OperationRunner
  policy: PlacementPolicy
  /** Hosts that new Docks avoid for a while. */
  startFailures: StartFailures
  pools: Pick<WarmPools, 'take' | 'giveBack'>
  /** The image of a Dock that names none. */
  defaultImage: string
  /** Images that online hosts serve. */
  images(): Promise<string[]>
  /** Images that are known even while no host serves them. */
  catalog: readonly string[]
  /** The linked host that keeps a completed Snapshot's capture; its copy is brought to one where none does. */
  captureHost(snapshot: { id: string; hostId: string | null }): Promise<string>
  /** Regular files of a completed Snapshot, batch by batch, in no order to rely on. */
  listFiles(snapshot: { id: string; hostId: string | null }): Promise<AsyncIterable<CaptureFile[]>>
  /** The ready Template of that name, or null. */
  template(organizationId: string, name: string): Promise<TemplateSource | null>
  rateLimits: RateLimits
  usage: DockUsage
  activity: DockActivity
  /** Told of every moment at which a Dock is to stop. */
  ttl: Pick<TtlClock, 'note'>
  sealer: Sealer
  /** Keyed commands under way in this process, by Dock and key. */
  keyedExecs: Map<string, Promise<ExecOutcome>>
  /** What the deployment allows one command. */
  execTimeoutSecondsMax: number
  /** What one answer may hold of a file of a Snapshot. */
  snapshotFileBytesMax: number
  /** Of the HMAC that a repeated create is compared by. */
  fingerprintKey: Buffer
  /** Plans of organizations limit what they start. */
  billing: boolean
  /** What an organization may have that has no limits of its own. */
  limits: Limits
}

/** What the organization may start. */
export function quotaOf(
  { billing, limits }: Pick<DockContext, 'billing' | 'limits'>,
  organizationId: string,
): Quota {
  return { organizationId, billing, defaults: limits }
}

/** The Dock, if the caller's role in its organization reaches. Throws `dock_not_found`, the same for absent and foreign. */
export async function requireDock(
  context: Pick<DockContext, 'db'>,
  caller: Visitor,
  id: string,
): Promise<VisibleDock> {
  return caller.admit(await findVisibleDock(context.db, caller.userId, id))
}

export function causedBy(caller: Pick<Caller, 'userId'>, why: string): Cause {
  return {
    by: `user:${caller.userId}`,
    through: 'api',
    why,
  }
}

/** A new operation on a Dock, in memory; a claim saves it. */
export function newDockOperation(
  input: Pick<OperationRow, 'kind' | 'organizationId' | 'generation' | 'cause' | 'hostId'> & {
    dockId: string
    data: unknown
  },
): OperationRow {
  return {
    id: newOperationId(),
    organizationId: input.organizationId,
    kind: input.kind,
    targetType: 'dock',
    targetId: input.dockId,
    dockId: input.dockId,
    hostId: input.hostId,
    generation: input.generation,
    status: 'processing',
    step: null,
    undoing: false,
    data: input.data as Record<string, unknown>,
    cause: input.cause,
    error: null,
  }
}
