/** The checks before every call on a process. */
import { isReadyDockState, type ServiceError } from '@dock/contract'
import type { Visitor } from '../accounts/index.ts'
import { type DockRow, requireDock, requireNotDriven, requireSecretsAccess } from '../docks/index.ts'
import { explainHostFailure, type KeptPlace, NotBegun } from '../hosts/index.ts'
import type { ProcessContext } from './process-context.ts'
import { readerWords } from './process-words.ts'

/** Returns the Dock's host. Throws `dock_not_running` if the Dock is not ready. */
export function requireReady(dock: Pick<DockRow, 'state' | 'hostId'>): string {
  if (!isReadyDockState(dock.state) || dock.hostId === null) throw new NotBegun('dock_not_running')
  return dock.hostId
}

/**
 * Returns the Dock, if the caller may run commands in it. Counts the call. Throws `dock_not_found`,
 * `environment_secrets_admin_only` and `rate_limited`.
 */
export async function requireProcessAccess(
  { db, rateLimits }: ProcessContext,
  caller: Visitor,
  id: string,
  counted: 'processStarts' | 'processCalls' = 'processCalls',
): ReturnType<typeof requireDock> {
  const [dock] = await Promise.all([
    requireDock({ db }, caller, id),
    rateLimits.take(`${counted}PerCaller`, caller.userId),
  ])
  requireSecretsAccess(dock)
  requireNotDriven(dock)
  // Counted after the access check, so that strangers cannot use up the Dock's rate limit.
  await rateLimits.take(`${counted}PerDock`, id)
  return dock
}

/** Checks the access, then calls the host. Its errors become those of the API: see {@link ServiceError}. */
export async function callHost<Answer>(
  context: ProcessContext,
  caller: Visitor,
  { id, pid }: { id: string; pid: string },
  call: (place: KeptPlace) => Promise<Answer>,
): Promise<Answer> {
  const hostId = requireReady(await requireProcessAccess(context, caller, id))
  return call({ hostId, dockId: id, processId: pid }).catch((error: unknown) => {
    throw explainHostFailure(error, readerWords)
  })
}
