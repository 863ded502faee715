/** Alerts about Docks that are unreachable, were restarted, or could not be restarted. */
import { type AlertType, dockWords } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { RawBuilder } from 'kysely'
import type { OperationRow } from '../../../engine/index.ts'
import { type Alert, alertStatement } from '../../notifications/index.ts'
import type { DockRow } from '../core/dock.ts'
import { hasRow, moved } from '../core/dock-commit.ts'
import type { HeldWhy, Recovery } from './recovery.ts'

const [failed, unreachable] = [dockWords.error.toLowerCase(), dockWords.unreachable.toLowerCase()]

type Told = Pick<DockRow, 'id' | 'organizationId' | 'name'>

const alertOf = (
  dock: Told,
  type: AlertType,
  title: string,
  body: string,
  at: Date,
  shared?: Alert['shared'],
): RawBuilder<unknown> =>
  alertStatement(
    {
      type,
      dockId: dock.id,
      organizationId: dock.organizationId,
      title,
      body,
      at,
      eventId: newUuid(),
      ...(shared ? { shared } : {}),
    },
    hasRow(moved),
  )

/** Alert for the `also` of the commit that makes the Dock unreachable. The Docks of a host share a mail. */
export function stoppedResponding(dock: Told & Pick<DockRow, 'hostId'>, at: Date): RawBuilder<unknown> {
  return alertOf(
    dock,
    'stopped_responding',
    `${dock.name} is ${unreachable}`,
    `The machine on which ${dock.name} runs has not responded for 30 seconds. The Dock cannot be reached until the machine responds again. It is not started on another machine, and its disk stays where it is.`,
    at,
    {
      cause: `host ${dock.hostId}`,
      item: dock.name,
      title: `{count} of your Docks on one host are ${unreachable}`,
      body: 'The machine on which these Docks run has not responded for 30 seconds. They cannot be reached until the machine responds again. They are not started on another machine, and their disks stay where they are.',
    },
  )
}

const heldBody: Record<HeldWhy, (name: string) => string> = {
  died_too_often: (name) =>
    `${name} ended unexpectedly more than three times within ten minutes and is not restarted. Its disk is kept. Stop the Dock to save the disk as a Snapshot, then resume it; if it ran out of memory, resume it with more.`,
  would_not_start: (name) =>
    `${name} ended and could not be restarted. Its disk is kept. Stop the Dock to save the disk as a Snapshot, then resume it.`,
  disk_gone: (name) =>
    `${name} ended, and its machine no longer has its disk. Earlier Snapshots of the Dock can still be read and downloaded.`,
}

/** Alert for the `also` of the commit that gives up restarting the Dock. */
export function heldAfterLoss(dock: Told, why: HeldWhy, at: Date): RawBuilder<unknown> {
  return alertOf(dock, 'held_after_loss', `${dock.name} has ${failed}`, heldBody[why](dock.name), at)
}

type Boot = Pick<OperationRow, 'targetId' | 'organizationId'>

const bootedDock = (boot: Boot, { name }: Recovery): Told => ({
  id: boot.targetId,
  organizationId: boot.organizationId,
  name,
})

/** Alerts for the `also` of the commit that makes a Dock ready: empty unless this boot recovered from a death. */
export function recoveredAlerts(boot: Boot, recovery: Recovery | undefined, at: Date): RawBuilder<unknown>[] {
  return recovery?.died
    ? [
        alertOf(
          bootedDock(boot, recovery),
          'auto_recovered',
          `${recovery.name} was restarted`,
          `${recovery.name} ended unexpectedly and was restarted from its own disk. Files that were written are kept. Programs that ran in the Dock must be started again.`,
          at,
        ),
      ]
    : []
}

/** Alerts for the `also` of the commit that fails a boot: empty unless the boot was a recovery. */
export function heldAlerts(boot: Boot, recovery: Recovery | undefined, at: Date): RawBuilder<unknown>[] {
  return recovery ? [heldAfterLoss(bootedDock(boot, recovery), recovery.held ?? 'would_not_start', at)] : []
}
