/**
 * The keys with which the SSH gateway proves its identity to clients: one of each type for the whole instance, so that a
 * client knows the gateway whichever Dock it connects to. The database holds them, sealed.
 */
import { type Clock, newUuid } from '@dock/foundation'
import { generateKeyPair } from '@dock/ssh-server'
import { type Db, type Row, type Tx, withTransaction } from '../../../database/database.ts'
import { instanceOwner, type SealedColumn, type Sealer } from '../../../sealing/index.ts'

type SshHostKeyType = Row<'ssh_host_keys'>['type']

export type SshHostKey = {
  type: SshHostKeyType
  /** One line in OpenSSH format. */
  publicKey: string
  /** In OpenSSH's format of private keys. */
  privateKey: string
}

type HostKeyContext = { db: Db; clock: Clock; sealer: Sealer }

export const sshHostKeyColumn: SealedColumn = {
  table: 'ssh_host_keys',
  column: 'sealed_private_key',
  rowIdColumn: 'id',
  ownerKind: 'instance',
  ownerColumn: 'instance_id',
}

const types: SshHostKeyType[] = ['ssh-ed25519', 'ecdsa-sha2-nistp256']

const placeOf = (rowId: string) => ({ table: 'ssh_host_keys', column: 'sealed_private_key', rowId })

const makeRows = (context: HostKeyContext) =>
  Promise.all(
    types.map(async (type) => {
      const made = generateKeyPair(type)
      const id = newUuid()
      return {
        id,
        instance_id: instanceOwner.id,
        type,
        public_key: made.public.trim(),
        sealed_private_key: await context.sealer.seal(instanceOwner, placeOf(id), made.private),
        created_at: context.clock.now(),
      }
    }),
  )

const insertRows = (db: Db | Tx, rows: Awaited<ReturnType<typeof makeRows>>) =>
  db
    .insertInto('ssh_host_keys')
    .values(rows)
    .onConflict((conflict) => conflict.column('type').doNothing())
    .execute()

const openRows = async ({ db, sealer }: HostKeyContext): Promise<SshHostKey[]> => {
  const rows = await db
    .selectFrom('ssh_host_keys')
    .select(['type', 'id', 'public_key', 'sealed_private_key'])
    .orderBy('type', 'desc')
    .execute()
  return Promise.all(
    rows.map(async ({ id, type, public_key, sealed_private_key }) => ({
      type,
      publicKey: public_key,
      privateKey: await sealer.open(instanceOwner, placeOf(id), sealed_private_key),
    })),
  )
}

/** Returns the host keys, Ed25519 first. Creates them at the first call. Of several concurrent calls, one creates them. */
export async function ensureSshHostKeys(context: HostKeyContext): Promise<SshHostKey[]> {
  const present = await openRows(context)
  if (present.length === types.length) return present
  await insertRows(context.db, await makeRows(context))
  return openRows(context)
}

/** Replaces the host keys and returns the new ones. Gateways use them for connections that begin afterwards. */
export async function rotateSshHostKeys(context: HostKeyContext): Promise<SshHostKey[]> {
  const rows = await makeRows(context)
  await withTransaction(context.db, async (tx) => {
    await tx.deleteFrom('ssh_host_keys').execute()
    await insertRows(tx, rows)
  })
  return openRows(context)
}
