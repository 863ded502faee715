/** Reads a server's durable copies, with its data folder and its keys. */
import { basename, join } from 'node:path'
import { openChunk } from '@dock/copy-format'
import { systemClock } from '@dock/foundation'
import { sql } from 'kysely'
import { type Db, openDatabase } from '../../apps/control-plane/src/database/database.ts'
import { chunksPrefix } from '../../apps/control-plane/src/modules/storage/copies/copy-context.ts'
import { ensureCopyKeys } from '../../apps/control-plane/src/modules/storage/copies/copy-keys.ts'
import { openObjectStore } from '../../apps/control-plane/src/object-store/index.ts'
import { sealedColumns } from '../../apps/control-plane/src/sealed-columns.ts'
import { createSealer, ensureKeyRing } from '../../apps/control-plane/src/sealing/index.ts'

const nameLength = 64

const withDatabase = async <T>(dataDir: string, use: (db: Db) => Promise<T>): Promise<T> => {
  const host = encodeURIComponent(join(dataDir, 'control/run'))
  const database = openDatabase({ url: `postgresql://dock@/postgres?host=${host}`, maxConnections: 1 })
  try {
    return await use(database.db)
  } finally {
    await database.close()
  }
}

/** Makes PostgreSQL write all changes to its files. */
export function checkpoint(dataDir: string): Promise<unknown> {
  return withDatabase(dataDir, (db) => sql`checkpoint`.execute(db))
}

/** Yields every chunk of the organization's durable copies, decrypted. Throws if its keys do not open a chunk. */
export async function* storedChunks(dataDir: string, organizationId: string): AsyncGenerator<Buffer> {
  const controlDir = join(dataDir, 'control')
  const ring = await ensureKeyRing({ secretKeys: undefined, controlDir })
  const keys = await withDatabase(dataDir, (db) => {
    const sealer = createSealer({ db, clock: systemClock, ring, columns: sealedColumns })
    return ensureCopyKeys({ db, clock: systemClock, sealer }, organizationId)
  })
  const store = openObjectStore(undefined, join(controlDir, 'objects'))
  for await (const { key } of store.list(chunksPrefix(organizationId)))
    yield await openChunk(keys, basename(key).slice(0, nameLength), await store.get(key))
}
