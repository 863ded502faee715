/** Dependencies and settings that every operation on Docks receives. The composition creates them once. */
import type { Clock, Logger } from '@dock/foundation'
import { isUuid, newOperationId } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Cause, OperationRow, OperationRunner, VersionedData } from '../../engine/index.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { Sealer } from '../../sealing/index.ts'
import type { Caller, Visitor } from '../accounts/index.ts'
import type { HostGateway, PlacementPolicy, StartFailures, WarmPools } from '../hosts/index.ts'
import type { Limits, Quota } from '../limits/index.ts'
import type { DockActivity } from './activity/dock-activity.ts'
import type { VisibleDock } from './core/dock.ts'
import { findVisibleDock } from './core/dock-store.ts'
import type { TemplateSource } from './core/kept-snapshot.ts'
import type { TtlClock } from './core/ttl-clock.ts'
import type { KeyedExecs } from './exec/keyed-execs.ts'
import type { DockUsage } from './usage/dock-usage.ts'

export type DockContext = {
  db: Db
  /** The instance's current epoch. It is part of each new generation and grows with each database restore. */
  epoch(): number
  clock: Clock
  logger: Logger
  gateway: HostGateway
  runner: OperationRunner
  policy: PlacementPolicy
  /** Hosts on which starts failed recently. Placement avoids them for a few minutes. */
  startFailures: StartFailures
  warmPools: Pick<WarmPools, 'take' | 'giveBack'>
  /** Image of a Dock if the request names none. */
  defaultImage: string
  /** Returns the images that online hosts serve. */
  images(): Promise<string[]>
  /** Images that are valid even if no online host serves them. */
  catalog: readonly string[]
  /** Returns the ready Template of that name, or null. */
  template(organizationId: string, name: string): Promise<TemplateSource | null>
  rateLimits: RateLimits
  usage: DockUsage
  activity: DockActivity
  /** Timer that stops Docks when their ttl runs out. Call `note` whenever a Dock's stop time is set. */
  ttl: Pick<TtlClock, 'note'>
  sealer: Sealer
  /** Commands with an idempotency key of this process, named `<dock id> <key>`. */
  keyedExecs: KeyedExecs
  /** Upper limit for the timeout of one command, in seconds. */
  execTimeoutSecondsMax: number
  /** HMAC key of the fingerprints by which repeated creates are compared. */
  fingerprintKey: Buffer
  /** True if an organization's plan limits what it may start. */
  billing: boolean
  /** Limits of organizations that have no limits of their own. */
  limits: Limits
}

/** Returns the quota that a new or resized Dock of the organization is checked against. */
export function quotaOf(
  { billing, limits }: Pick<DockContext, 'billing' | 'limits'>,
  organizationId: string,
): Quota {
  return { organizationId, billing, defaults: limits }
}

/**
 * Returns the Dock if the caller may access it. Throws `dock_not_found` both for an absent Dock and for one of another
 * organization, so the error reveals nothing.
 */
export async function requireDock(
  context: Pick<DockContext, 'db'>,
  caller: Visitor,
  id: string,
): Promise<VisibleDock> {
  return caller.admit(await findVisibleDock(context.db, caller.userId, id))
}

/**
 * Returns the cause that is recorded for a change made by this caller through the API. A Run acts in the name of a person
 * who did not begin the change, and under an id that is no credential's, so the audit log has no entry.
 */
export function causedBy(
  { userId, kind, credentialId, address }: Pick<Caller, 'userId'> & Partial<Caller>,
  why: string,
): Cause {
  const cause: Cause = { by: `user:${userId}`, through: 'api', why }
  if (!kind || !isUuid(credentialId ?? '')) return cause
  return {
    ...cause,
    ...(kind === 'api_key' ? { apiKeyId: credentialId! } : {}),
    credential: kind,
    credentialId: credentialId!,
    ...(address && { address }),
  }
}

/** Builds an operation on a Dock in memory. A claim saves it. */
export function newDockOperation<Data extends VersionedData>(
  input: Pick<OperationRow<Data>, 'kind' | 'organizationId' | 'generation' | 'cause' | 'hostId' | 'data'> & {
    dockId: string
  },
): OperationRow<Data, never> {
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
    data: input.data,
    cause: input.cause,
    error: null,
  }
}
