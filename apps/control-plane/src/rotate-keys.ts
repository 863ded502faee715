/** Gives every organization and person a new data key and seals their secrets with it: run by script/rotate-keys. */
import { systemClock } from '@dock/foundation'
import { openDatabase } from './database/database.ts'
import { sealedColumns } from './sealed-columns.ts'
import { checkKeyRing, createSealer, parseKeyRing, readKeyRing, rotateDataKeys } from './sealing/index.ts'

const run = async (): Promise<void> => {
  const url = process.env['DATABASE_URL']
  if (!url) throw new Error('DATABASE_URL must name the database of the control plane.')
  const { DOCK_SECRET_KEYS: entries, DOCK_CONTROL_DIR: controlDir = '' } = process.env
  const ring = entries ? parseKeyRing(entries) : await readKeyRing(controlDir)
  if (!ring) throw new Error('There is no key ring: set DOCK_SECRET_KEYS, or DOCK_DATA_DIR as Dock has it.')
  const database = openDatabase({ url, maxConnections: 2 })
  const { db } = database
  try {
    await checkKeyRing(db, ring)
    const sealer = createSealer({ db, clock: systemClock, ring, columns: sealedColumns })
    const context = { db, clock: systemClock, ring, sealer, columns: sealedColumns }
    const { owners, resealed } = await rotateDataKeys(context)
    process.stdout.write(`${owners} owners have new keys; ${resealed} secrets were sealed with them.\n`)
  } finally {
    await database.close()
  }
}

run().catch((error: unknown) => {
  const { code, message } = error as { code?: string; message: string }
  const sentence =
    code === 'ENOENT' || code === 'ECONNREFUSED' ? 'Dock is not running on this data folder.' : message
  process.stderr.write(`rotate-keys: ${sentence}\n`)
  process.exitCode = 1
})
