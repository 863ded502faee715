import { systemClock } from '@dock/foundation'
import type { Db } from '../database/database.ts'
import { sealedColumns } from '../sealed-columns.ts'
import { checkKeyRing, createSealer, findKeyRing, type RotationContext } from '../sealing/index.ts'

/**
 * Returns what seals secrets with the instance's key ring. script/admin sets `DOCK_SECRET_KEYS` and `DOCK_CONTROL_DIR`.
 */
export async function openSealer(db: Db): Promise<RotationContext> {
  const { DOCK_SECRET_KEYS: secretKeys, DOCK_CONTROL_DIR: controlDir = '' } = process.env
  const ring = await findKeyRing({ secretKeys, controlDir })
  if (!ring)
    throw new Error(
      'There is no key ring. Set DOCK_SECRET_KEYS or DOCK_DATA_DIR to the same value as for script/server.',
    )
  await checkKeyRing(db, ring)
  const sealer = createSealer({ db, clock: systemClock, ring, columns: sealedColumns })
  return { db, clock: systemClock, ring, sealer, columns: sealedColumns }
}
