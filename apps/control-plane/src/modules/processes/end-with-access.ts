/** Ends the streams of a process when the person who opened them loses access to the Dock. */
import type { Readable } from 'node:stream'
import { ServiceError } from '@dock/contract'
import type { Visitor } from '../accounts/index.ts'
import { findVisibleDock } from '../docks/index.ts'
import type { ProcessContext } from './process-context.ts'
import { whenAllClosed } from './when-all-closed.ts'

/** Destroys the streams with `dock_not_found` within five seconds after the caller has lost access to the Dock. */
export async function endWithAccess(
  { db, accessSignals }: Pick<ProcessContext, 'db' | 'accessSignals'>,
  { userId, credentialId }: Visitor,
  dockId: string,
  bodies: readonly Readable[],
): Promise<void> {
  const dock = await findVisibleDock(db, userId, dockId)
  const lost = () => {
    for (const body of bodies) body.destroy(new ServiceError('dock_not_found'))
  }
  if (!dock) return lost()
  const hold = { userId, credentialId, dockId, organizationId: dock.organizationId }
  whenAllClosed(bodies, accessSignals.subscribe(hold, lost))
}
