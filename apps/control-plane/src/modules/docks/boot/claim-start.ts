/** Claims a new Dock, under a given or generated name and on a host, and boots it. */
import { type Dock, type ErrorCode, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { RawBuilder } from 'kysely'
import { throwNoPlacement, type WarmDock, type WarmPoolKind } from '../../hosts/index.ts'
import type { DockRow } from '../core/dock.ts'
import { type ClaimRefusal, claimNewDock, DockIdTaken, type NewDock } from '../core/dock-claim.ts'
import { generateName, hostnameOf } from '../core/dock-name.ts'
import { type DockContext, newDockOperation, quotaOf } from '../dock-context.ts'
import { sealVariables, type Variables } from '../environment/variables/dock-variables.ts'
import { sealSetupScript } from '../setup/setup-saga.ts'
import { viewDock } from '../view/dock-view.ts'
import type { StartData, StartOperation } from './start-data.ts'

const nameAttempts = 6
/** How many Docks of the warm pool a create tries to claim before it boots a new sandbox. */
const warmAttempts = 3

/** A Dock that a create or branch wants, before it has an id, a name and a host. */
export type DockPlan = Pick<NewDock, 'why' | 'key' | 'source'> & {
  cause: StartOperation['cause']
  dock: Omit<NewDock['dock'], 'id' | 'name' | 'envSealed' | 'setupScriptSealed'>
  /** Null if a name is generated. */
  name: string | null
  /** In clear. They are sealed for the Dock's id once it is known. */
  variables: Variables
  setupScript: string | undefined
  /** What the start is to do. The host name follows from the Dock's name. */
  start: Omit<StartData, 'command'> & { command: Omit<StartData['command'], 'hostname'> }
  placement: Omit<NewDock['placement'], 'linked' | 'avoid'>
  /** Further parts of the claim, each in the form `name as (…)`. */
  also?: ((now: Date) => readonly RawBuilder<unknown>[]) | undefined
}

type Claim = { kind: 'claimed'; operation: StartOperation } | ClaimRefusal

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
 * With `warm`, claims a sandbox of that kind from a host's warm pool, if there is one. If the host has lost the sandbox
 * by the time of the start, it boots a new one.
 */
export async function claimAndStart(
  context: DockContext,
  plan: DockPlan,
  warm: WarmPoolKind | null,
): Promise<Dock | null> {
  let operation: StartOperation | null
  try {
    operation = await claimAnywhere(context, plan, warm)
  } catch (error) {
    throw beforeClaim(error)
  }
  return operation && viewDock(await runStart(context, operation))
}

/** Claims a Dock of the warm pool or a new one. Returns its start, or null if the key is taken. */
const claimAnywhere = async (
  context: DockContext,
  plan: DockPlan,
  warm: WarmPoolKind | null,
): Promise<StartOperation | null> => {
  const claim =
    (warm && (await claimWarm(context, plan, warm))) ?? (await claimNamed(context, plan, newUuid(), null))
  switch (claim.kind) {
    case 'claimed':
      return claim.operation
    case 'key_taken':
      return null
    case 'source_changed':
      throw new ServiceError('dock_busy')
    case 'no_host':
      return throwNoPlacement(context.db, placementOf(context, plan), context.catalog)
  }
}

/** Tries to claim Docks of the warm pool. Returns null if a new sandbox must be booted instead. */
const claimWarm = async (context: DockContext, plan: DockPlan, kind: WarmPoolKind): Promise<Claim | null> => {
  for (let attempt = 0; attempt < warmAttempts; attempt++) {
    const waiting = context.warmPools.take(
      kind,
      context.gateway.hostsWithControlLink(),
      plan.placement.runtimes,
    )
    if (!waiting) return null
    try {
      const claim = await claimNamed(context, plan, waiting.id, waiting)
      if (claim.kind === 'claimed') return claim
      context.warmPools.giveBack(waiting)
      // Other hosts may have room.
      return claim.kind === 'no_host' ? null : claim
    } catch (error) {
      // Another create has claimed it, so it does not go back into the pool.
      if (error instanceof DockIdTaken) continue
      context.warmPools.giveBack(waiting)
      throw error
    }
  }
  return null
}

/** Tries generated names until one is free. A Dock of the warm pool keeps the name it was booted with, if possible. */
const claimNamed = async (
  context: DockContext,
  plan: DockPlan,
  id: string,
  waiting: WarmDock | null,
): Promise<Claim> => {
  const { organizationId } = plan.dock
  const envSealed = await sealVariables(context.sealer, { organizationId, dockId: id }, plan.variables)
  const setupScriptSealed = await sealSetupScript(context.sealer, organizationId, id, plan.setupScript)
  for (let attempt = 0; ; attempt++) {
    const generated = attempt === 0 && waiting ? waiting.hostname : generateName(attempt)
    const name = plan.name ?? generated
    const operation = newStart(plan, id, name)
    try {
      const placement = placementOf(context, plan)
      const now = context.clock.now()
      const outcome = await claimNewDock(context.db, {
        operation,
        why: plan.why,
        key: plan.key,
        ...(plan.source ? { source: plan.source } : {}),
        dock: { ...plan.dock, id, name, envSealed, setupScriptSealed },
        origin: plan.start.command.source,
        placement: waiting ? { ...placement, only: waiting.hostId } : placement,
        lease: context.runner.lease(),
        policy: context.policy,
        quota: quotaOf(context, organizationId),
        now,
        ...(plan.also ? { also: plan.also(now) } : {}),
      })
      if (outcome.kind !== 'claimed') return outcome
      return { kind: 'claimed', operation: { ...operation, hostId: outcome.hostId } }
    } catch (error) {
      const taken = error instanceof ServiceError && error.code === 'dock_name_taken'
      if (!taken || plan.name !== null || attempt + 1 >= nameAttempts) throw error
    }
  }
}

const placementOf = (context: DockContext, { placement }: DockPlan): NewDock['placement'] => ({
  ...placement,
  linked: context.gateway.hostsWithControlLink(),
  avoid: context.startFailures.hostsToAvoid(),
})

/** Builds the operation that starts the Dock. The claim sets its host. */
const newStart = ({ why, dock, cause, start }: DockPlan, dockId: string, name: string): StartOperation =>
  newDockOperation<StartData>({
    kind: why,
    organizationId: dock.organizationId,
    dockId,
    hostId: null,
    generation: 1,
    cause,
    data: { ...start, command: { ...start.command, hostname: hostnameOf(name) } },
  })

const runStart = async (context: DockContext, operation: StartOperation): Promise<DockRow> => {
  const error = await context.runner.run(operation)
  if (error) throw new ServiceError(error.code as ErrorCode, { message: error.message })
  if (!operation.result) throw new ServiceError('service_unavailable')
  return operation.result
}
