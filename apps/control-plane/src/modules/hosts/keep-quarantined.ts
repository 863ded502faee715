/**
 * Puts into quarantine what a host reported and the database does not know. The runtime of a Dock ends in order and its
 * disk becomes a capture, so that the Dock's id is free on the host; a capture stays as it is. Nothing is destroyed but
 * what turns out to be of an organization that was deleted.
 */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { eraseQuarantined } from './erase-quarantined.ts'
import { type HostGateway, HostRefused } from './host-gateway.ts'
import { captureOf, forgetFound, foundOnHost, markHeld, type Quarantined } from './quarantine-store.ts'

/** Things that are fenced after one inventory; the next inventory goes on. */
const atOnceMax = 200

type Context = { db: Db; clock: Clock; gateway: HostGateway; logger: Logger }

const isAbsent = (error: unknown): boolean => error instanceof HostRefused && error.code === 'not_found'

/** Ends the runtime and keeps its disk; where the disk cannot be captured now, the runtime is ended all the same. */
const fence = async ({ gateway }: Context, hostId: string, found: Quarantined): Promise<void> => {
  const { id, thingId, generation } = found
  const command = { operationId: `quarantine-${id}`, generation }
  try {
    await gateway.stop(hostId, thingId, { ...command, captureId: id })
  } catch (error) {
    if (!isAbsent(error)) await gateway.stop(hostId, thingId, { ...command, captureId: null })
    throw error
  }
}

const keep = async (context: Context, hostId: string, found: Quarantined): Promise<void> => {
  const { db, gateway, logger } = context
  const { id, kind, thingId, generation } = found
  try {
    if (kind === 'dock') await fence(context, hostId, found)
    const { sizeBytes, diskBytes, dock } = await gateway.captureNote(hostId, captureOf(found))
    if (await markHeld(db, id, { note: dock, sizeBytes, diskBytes }))
      logger.warn(
        { quarantineId: id, hostId, kind, thingId, generation, organizationId: dock?.organizationId },
        'unknown to the database, now in quarantine: script/quarantine decides',
      )
  } catch (error) {
    if (isAbsent(error)) await forgetFound(db, id)
    else logger.warn({ ...found, err: error }, 'not yet in quarantine; the next inventory repeats it')
  }
}

/** Sees to all that the host has reported and not confirmed yet. Repeating it is harmless. */
export async function keepQuarantined(context: Context, hostId: string): Promise<void> {
  for (const found of await foundOnHost(context.db, hostId, atOnceMax)) await keep(context, hostId, found)
  const erased = await eraseQuarantined(context, { onHost: hostId })
  if (erased > 0)
    context.logger.warn({ hostId, erased }, 'what deleted organizations had in quarantine is removed')
}
