/** Replaces the host keys of the SSH gateway. Run by script/rotate-ssh-host-keys. */
import { systemClock } from '@dock/foundation'
import { fingerprintOf } from '@dock/ssh-server'
import { rotateSshHostKeys } from './modules/keys/index.ts'
import { runOnDatabase } from './run-on-database.ts'
import { sealedColumns } from './sealed-columns.ts'
import { checkKeyRing, createSealer, findKeyRing } from './sealing/index.ts'

await runOnDatabase('rotate-ssh-host-keys', async (db) => {
  const { DOCK_SECRET_KEYS: secretKeys, DOCK_CONTROL_DIR: controlDir = '' } = process.env
  const ring = await findKeyRing({ secretKeys, controlDir })
  if (!ring)
    throw new Error(
      'There is no key ring. Set DOCK_SECRET_KEYS or DOCK_DATA_DIR to the same value as for script/server.',
    )
  await checkKeyRing(db, ring)
  const sealer = createSealer({ db, clock: systemClock, ring, columns: sealedColumns })
  const keys = await rotateSshHostKeys({ db, clock: systemClock, sealer })
  return ['Created new host keys. Their fingerprints:']
    .concat(
      keys.map(({ type, publicKey }) => {
        const [, encoded = ''] = publicKey.split(' ')
        return `  ${type} ${fingerprintOf(Buffer.from(encoded, 'base64'))}`
      }),
    )
    .join('\n')
})
