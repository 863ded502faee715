/** Gives every organization and person a new data key and seals their secrets with it. Run by script/rotate-keys. */
import { systemClock } from '@dock/foundation'
import { runOnDatabase } from './run-on-database.ts'
import { sealedColumns } from './sealed-columns.ts'
import { checkKeyRing, createSealer, findKeyRing, rotateDataKeys } from './sealing/index.ts'

await runOnDatabase('rotate-keys', async (db) => {
  const { DOCK_SECRET_KEYS: secretKeys, DOCK_CONTROL_DIR: controlDir = '' } = process.env
  const ring = await findKeyRing({ secretKeys, controlDir })
  if (!ring)
    throw new Error(
      'There is no key ring. Set DOCK_SECRET_KEYS or DOCK_DATA_DIR to the same value as for script/server.',
    )
  await checkKeyRing(db, ring)
  const sealer = createSealer({ db, clock: systemClock, ring, columns: sealedColumns })
  const context = { db, clock: systemClock, ring, sealer, columns: sealedColumns }
  const { owners, resealed } = await rotateDataKeys(context)
  return `Created new data keys for ${owners} owners and sealed ${resealed} secrets with them.`
})
