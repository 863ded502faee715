/** Claims a new Dock under a given or a generated name, runs its start, and answers it ready. */
import { type Dock, type ErrorCode, ServiceError } from '@dock/contract'
import { explainNoPlacement } from '../../hosts/index.ts'
import type { DockRow } from '../dock.ts'
import { type ClaimOutcome, claimNewDock, type NewDock } from '../dock-claim.ts'
import type { DockContext } from '../dock-context.ts'
import { generateName, hostnameOf } from '../dock-name.ts'
import { viewDock } from '../dock-view.ts'
import { startData } from './start-dock.ts'

const nameAttempts = 6

export type StartRequest = Omit<NewDock, 'lease' | 'policy' | 'now' | 'dock'> & {
  dock: Omit<NewDock['dock'], 'name'> & { name: string | null }
}

/** Answers the ready Dock, or null when another call with the key was quicker. Throws why it could not be made. */
export const claimAndStart = async (context: DockContext, request: StartRequest): Promise<Dock | null> => {
  const { operation } = request
  const claim = async (attempt: number): Promise<ClaimOutcome> => {
    const name = request.dock.name ?? generateName(attempt)
    startData(operation).command.hostname = hostnameOf(name)
    try {
      return await claimNewDock(context.db, {
        ...request,
        dock: { ...request.dock, name },
        lease: context.runner.lease(),
        policy: context.policy,
        now: context.clock.now(),
      })
    } catch (error) {
      const taken = error instanceof ServiceError && error.code === 'dock_name_taken'
      if (!taken || request.dock.name !== null || attempt + 1 >= nameAttempts) throw error
      return claim(attempt + 1)
    }
  }
  const outcome = await claim(0)
  if (outcome.kind === 'no_host') return explainNoPlacement(context.db, request.placement, context.catalog)
  if (outcome.kind === 'source_changed') throw new ServiceError('dock_busy')
  if (outcome.kind === 'key_taken') return null
  operation.hostId = outcome.hostId
  return viewDock(await runStart(context, operation))
}

const runStart = async (context: DockContext, operation: NewDock['operation']): Promise<DockRow> => {
  const error = await context.runner.run(operation)
  if (error) throw new ServiceError(error.code as ErrorCode, { message: error.message })
  const dock = operation.result as DockRow | null | undefined
  if (!dock) throw new ServiceError('service_unavailable')
  return dock
}
