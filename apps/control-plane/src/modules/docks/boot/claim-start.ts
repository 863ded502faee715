/** Claims a new Dock under a given or generated name, and boots it. */
import { type Dock, type ErrorCode, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { type PoolKind, throwNoPlacement, type WarmDock } from '../../hosts/index.ts'
import type { DockRow } from '../core/dock.ts'
import { type ClaimOutcome, claimNewDock, DockIdTaken, type NewDock } from '../core/dock-claim.ts'
import { generateName, hostnameOf } from '../core/dock-name.ts'
import { type DockContext, quotaOf } from '../dock-context.ts'
import { viewDock } from '../view/dock-view.ts'
import type { StartOperation } from './start-data.ts'

const nameAttempts = 6
/** How many Docks of the warm pool a create tries to claim before it boots a new sandbox. */
const warmAttempts = 3

export type StartRequest = Omit<
  NewDock,
  'lease' | 'policy' | 'quota' | 'now' | 'dock' | 'origin' | 'operation'
> & {
  operation: StartOperation
  dock: Omit<NewDock['dock'], 'name'> & { name: string | null }
}

/** The create was refused before its key was claimed, so a concurrent request may have claimed the key. */
export class RefusedBeforeClaim extends ServiceError {}

const beforeClaim = (error: unknown): unknown =>
  error instanceof ServiceError
    ? new RefusedBeforeClaim(error.code, {
        message: error.message,
        status: error.status,
        detail: error.detail,
        cause: error,
      })
    : error

/**
 * Returns the ready Dock, or null if a concurrent request with the same key claimed the key first. Throws
 * {@link RefusedBeforeClaim} if nothing was saved, or the error of the start.
 *
 * With `warm`, claims a sandbox of that kind from a host's warm pool. The sandbox already has an id, so the id is chosen
 * here and passed to `build`. If the host has lost the sandbox by the time of the start, it boots a new one.
 */
export async function claimAndStart(
  context: DockContext,
  warm: PoolKind | null,
  build: (dockId: string) => StartRequest | Promise<StartRequest>,
  attempt = 1,
): Promise<Dock | null> {
  const waiting = warm && context.pools.take(warm, context.gateway.linked())
  let request: StartRequest
  let outcome: ClaimOutcome
  try {
    request = await build(waiting?.id ?? newUuid())
    outcome = await claimNamed(context, request, waiting)
  } catch (error) {
    if (waiting && error instanceof DockIdTaken)
      return claimAndStart(context, attempt < warmAttempts ? warm : null, build, attempt + 1)
    if (waiting) context.pools.giveBack(waiting)
    throw beforeClaim(error)
  }
  if (waiting && outcome.kind !== 'claimed') context.pools.giveBack(waiting)
  if (outcome.kind === 'no_host')
    return waiting
      ? claimAndStart(context, null, build)
      : throwNoPlacement(context.db, request.placement, context.catalog).catch((error: unknown) => {
          throw beforeClaim(error)
        })
  if (outcome.kind === 'source_changed') throw new RefusedBeforeClaim('dock_busy')
  if (outcome.kind === 'key_taken') return null
  const { operation } = request
  operation.hostId = outcome.hostId
  return viewDock(await runStart(context, operation))
}

/** Tries generated names until one is free. A Dock of the warm pool keeps the name it was booted with, if possible. */
const claimNamed = async (
  context: DockContext,
  request: StartRequest,
  waiting: WarmDock | null,
): Promise<ClaimOutcome> => {
  const { placement } = request
  for (let attempt = 0; ; attempt++) {
    const generated = attempt === 0 && waiting ? waiting.hostname : generateName(attempt)
    const name = request.dock.name ?? generated
    const { command } = request.operation.data
    command.hostname = hostnameOf(name)
    try {
      return await claimNewDock(context.db, {
        ...request,
        dock: { ...request.dock, name },
        origin: command.source,
        placement: waiting ? { ...placement, only: waiting.hostId } : placement,
        lease: context.runner.lease(),
        policy: context.policy,
        quota: quotaOf(context, request.dock.organizationId),
        now: context.clock.now(),
      })
    } catch (error) {
      const taken = error instanceof ServiceError && error.code === 'dock_name_taken'
      if (!taken || request.dock.name !== null || attempt + 1 >= nameAttempts) throw error
    }
  }
}

const runStart = async (context: DockContext, operation: StartOperation): Promise<DockRow> => {
  const error = await context.runner.run(operation)
  if (error) throw new ServiceError(error.code as ErrorCode, { message: error.message })
  if (!operation.result) throw new ServiceError('service_unavailable')
  return operation.result
}
