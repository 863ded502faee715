/**
 * Quarantines the Docks and captures that a host reported and the database does not know. A Dock is stopped and its disk
 * becomes a capture, which frees the Dock's id on the host. A capture stays as it is. Only items of deleted organizations
 * are destroyed.
 */
import type { Clock, Logger } from '@dock/foundation'
import { HostRefused } from '@dock/host-protocol'
import type { Db } from '../../database/database.ts'
import { eraseQuarantined } from './erase-quarantined.ts'
import type { HostGateway } from './host-gateway.ts'
import {
  captureIdOf,
  commandGenerationOf,
  forgetFound,
  listFound,
  markHeld,
  type Quarantined,
} from './quarantine-store.ts'

/** Items that are handled after one inventory. The next inventory continues. */
const atOnceMax = 200

type Context = { db: Db; clock: Clock; gateway: HostGateway; logger: Logger }

/** True if the host no longer has what it reported: it has nothing, or has booted a later generation of the Dock. */
const isAbsent = (error: unknown): boolean =>
  error instanceof HostRefused && (error.code === 'not_found' || error.code === 'stale_generation')

/** Stops the runtime and captures its disk. If the capture fails, stops the runtime without one and throws. */
const fence = async ({ gateway }: Context, hostId: string, found: Quarantined): Promise<void> => {
  const { id, thingId } = found
  const command = { operationId: `quarantine-${id}`, generation: commandGenerationOf(found) }
  try {
    await gateway.stop({ hostId, dockId: thingId }, { ...command, captureId: id })
  } catch (error) {
    // Its own id: the host repeats the result of a known one, and the next attempt must make the capture.
    if (!isAbsent(error))
      await gateway.stop(
        { hostId, dockId: thingId },
        {
          ...command,
          operationId: `${command.operationId}-end`,
          captureId: null,
        },
      )
    throw error
  }
}

const keep = async (context: Context, hostId: string, found: Quarantined): Promise<void> => {
  const { db, gateway, logger } = context
  const { id, kind, thingId, generation } = found
  try {
    if (kind === 'dock') await fence(context, hostId, found)
    const { sizeBytes, diskBytes, dock } = await gateway.readCaptureNote({
      hostId,
      captureId: captureIdOf(found),
    })
    if (await markHeld(db, id, { note: dock, sizeBytes, diskBytes }))
      logger.warn(
        { quarantineId: id, hostId, kind, thingId, generation, organizationId: dock?.organizationId },
        'unknown to the database and now in quarantine; decide on it with script/admin quarantine',
      )
  } catch (error) {
    if (isAbsent(error)) await forgetFound(db, id)
    else
      logger.warn(
        { ...found, err: error },
        'cannot quarantine the item yet; retrying after the next inventory',
      )
  }
}

/** Handles every item that the host has reported and not confirmed yet. Idempotent. */
export async function keepQuarantined(context: Context, hostId: string): Promise<void> {
  for (const found of await listFound(context.db, hostId, atOnceMax)) await keep(context, hostId, found)
  const erased = await eraseQuarantined(context, { onHost: hostId })
  if (erased > 0)
    context.logger.warn({ hostId, erased }, 'removed quarantined items of deleted organizations')
}
