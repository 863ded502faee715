/** What people are told when a Dock is out of reach, was started again, or could not be. */
import type { AlertType } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { RawBuilder } from 'kysely'
import type { OperationRow } from '../../../engine/index.ts'
import { alertStatement } from '../../notifications/index.ts'
import type { DockRow } from '../core/dock.ts'
import type { HeldWhy, Recovery } from './recovery.ts'

type Told = Pick<DockRow, 'id' | 'organizationId' | 'name'>

const alertOf = (dock: Told, type: AlertType, title: string, body: string, at: Date): RawBuilder<unknown> =>
  alertStatement({
    type,
    dockId: dock.id,
    organizationId: dock.organizationId,
    title,
    body,
    at,
    eventId: newUuid(),
  })

/** For the `also` of the change that makes it unreachable. */
export function stoppedResponding(dock: Told, at: Date): RawBuilder<unknown> {
  return alertOf(
    dock,
    'stopped_responding',
    `${dock.name} stopped responding`,
    `The machine on which ${dock.name} runs has been silent for 30 seconds. The Dock cannot be reached until that machine answers again; it is not started anywhere else, and its disk stays where it is.`,
    at,
  )
}

const heldBody: Record<HeldWhy, (name: string) => string> = {
  died_too_often: (name) =>
    `${name} ended unexpectedly more than three times within ten minutes and is not started again. Its disk is kept: stop the Dock to save it as a Snapshot, then resume it, with more memory if it ran out of that.`,
  would_not_start: (name) =>
    `${name} ended and could not be started again. Its disk is kept: stop the Dock to save it as a Snapshot, then resume it.`,
  disk_gone: (name) =>
    `${name} ended, and its machine no longer has its disk. Earlier Snapshots of it can still be read and downloaded.`,
}

/** For the `also` of the change that gives up starting it again. */
export function heldAfterLoss(dock: Told, why: HeldWhy, at: Date): RawBuilder<unknown> {
  return alertOf(dock, 'held_after_loss', `${dock.name} needs attention`, heldBody[why](dock.name), at)
}

type Boot = Pick<OperationRow, 'targetId' | 'organizationId'>

const bootedDock = (boot: Boot, { name }: Recovery): Told => ({
  id: boot.targetId,
  organizationId: boot.organizationId,
  name,
})

/** For the `also` of the change that makes a Dock ready: nothing unless this boot made good for a death. */
export function recoveredAlerts(boot: Boot, recovery: Recovery | undefined, at: Date): RawBuilder<unknown>[] {
  return recovery?.died
    ? [
        alertOf(
          bootedDock(boot, recovery),
          'auto_recovered',
          `${recovery.name} was started again`,
          `${recovery.name} ended unexpectedly and was started again from its own disk. Files that had been written are there; programs that ran in it have to be started anew.`,
          at,
        ),
      ]
    : []
}

/** For the `also` of the change that fails a boot: nothing unless it was to make good for a loss. */
export function heldAlerts(boot: Boot, recovery: Recovery | undefined, at: Date): RawBuilder<unknown>[] {
  return recovery ? [heldAfterLoss(bootedDock(boot, recovery), recovery.held ?? 'would_not_start', at)] : []
}
