/** A Dock that a Run drives is closed to everybody else: the work of the agent must be the agent's. */
import { ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'

/** SQL predicate for the table alias `d`: true if a Run drives the Dock now. */
export const isDrivenByRun: RawBuilder<boolean> = sql<boolean>`exists (select 1 from runs u
  where u.dock_id = d.id and u.state in ('provisioning', 'working'))`

/** Throws `exec_unavailable` if a Run drives the Dock. */
export function requireNotDriven(dock: { isDriven: boolean }): void {
  if (dock.isDriven)
    throw new ServiceError('exec_unavailable', {
      message: 'A Run drives this Dock. Wait until its turn has ended, or stop the Run.',
    })
}
