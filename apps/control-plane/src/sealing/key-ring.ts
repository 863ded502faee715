/**
 * The key ring: the instance's secret keys, which wrap every data key. The first key wraps; the others only unwrap. To
 * replace a key, put the new key in front and keep the old one until all data keys are rewrapped.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { lstat, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomBase32, readOwnFile, writeFileDurably } from '@dock/foundation'
import { type KeyOwner, ownerName } from './sealed-place.ts'
import type { DataKey } from './sealed-value.ts'

const keyBytes = 32
const ivBytes = 12
const tagBytes = 16
const entryForm = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/

export type WrappedKey = { kid: string; ringKeyId: string; wrapped: Buffer }

export type KeyRing = {
  /** Id of the first key, which wraps. */
  readonly first: string
  has(ringKeyId: string): boolean
  wrap(owner: KeyOwner, dataKey: DataKey): WrappedKey
  /** Throws if the ring lacks the key, or has a different key with the same id. */
  unwrap(owner: KeyOwner, wrapped: WrappedKey): DataKey
  /** Returns the first key's MAC of a text that the instance stores outside the database and later reads back. */
  mac(text: string): string
  /** True if any key of the ring made this MAC. */
  isMac(text: string, mac: string): boolean
}

const macKeyOf = (key: KeyObject): Buffer => Buffer.from(hkdfSync('sha256', key, '', 'dock mac v1', keyBytes))
const macOf = (macKey: Buffer, text: string): Buffer => createHmac('sha256', macKey).update(text).digest()

/** Associated data (AAD) of a wrapped key. It binds the key to its owner, its id and the ring key. */
const associated = (ringKeyId: string, owner: KeyOwner, kid: string): Buffer =>
  Buffer.from(JSON.stringify(['dock data key v1', ringKeyId, owner.kind, owner.id, kid]))

/**
 * Parses `id:base64` entries of 32 bytes each, separated by commas or white space. `DOCK_SECRET_KEYS` and the generated
 * file have this form. Errors name an entry's position or id, never its key.
 */
export function parseKeyRing(text: string): KeyRing {
  const keys = new Map<string, KeyObject>()
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '')
  for (const [index, entry] of entries.entries()) {
    const [, id, encoded] = entryForm.exec(entry) ?? []
    if (id === undefined || encoded === undefined)
      throw new Error(`Key ${index + 1} of the key ring must have the form <id>:<32 bytes in base64>.`)
    if (keys.has(id)) throw new Error(`The key ring contains the key ${id} twice. Remove one of them.`)
    keys.set(id, createSecretKey(Buffer.from(encoded, 'base64')))
  }
  const first = keys.keys().next().value
  if (first === undefined) throw new Error('The key ring is empty. Restore it from a backup.')
  const keyNamed = (id: string): KeyObject => {
    const key = keys.get(id)
    if (!key)
      throw new Error(`The key ring lacks the key ${id}, which wraps existing data keys. Add it again.`)
    return key
  }
  const macKeys = [...keys.values()].map(macKeyOf)
  return {
    first,
    has: (ringKeyId) => keys.has(ringKeyId),
    wrap: (owner, { kid, key }) => {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', keyNamed(first), iv)
      cipher.setAAD(associated(first, owner, kid))
      const ciphertext = Buffer.concat([cipher.update(key.export()), cipher.final()])
      return { kid, ringKeyId: first, wrapped: Buffer.concat([iv, cipher.getAuthTag(), ciphertext]) }
    },
    unwrap: (owner, { kid, ringKeyId, wrapped }) => {
      const iv = wrapped.subarray(0, ivBytes)
      const decipher = createDecipheriv('aes-256-gcm', keyNamed(ringKeyId), iv, { authTagLength: tagBytes })
      decipher.setAAD(associated(ringKeyId, owner, kid))
      decipher.setAuthTag(wrapped.subarray(ivBytes, ivBytes + tagBytes))
      try {
        const key = Buffer.concat([decipher.update(wrapped.subarray(ivBytes + tagBytes)), decipher.final()])
        return { kid, key: createSecretKey(key) }
      } catch (error) {
        throw new Error(
          `The key ring's key ${ringKeyId} does not open the data key of ${ownerName(owner)}: the data key was wrapped with a different key. Restore the original key.`,
          { cause: error },
        )
      }
    },
    mac: (text) => macOf(macKeys[0]!, text).toString('base64url'),
    isMac: (text, mac) => {
      const given = Buffer.from(mac, 'base64url')
      return macKeys.some((macKey) => {
        const made = macOf(macKey, text)
        return given.length === made.length && timingSafeEqual(given, made)
      })
    },
  }
}

/** Returns a new entry for a ring, in the form that {@link parseKeyRing} reads. */
export function newRingEntry(): string {
  return `${randomBase32(8)}:${randomBytes(keyBytes).toString('base64url')}`
}

const folderOf = (controlDir: string): string => join(controlDir, 'keys')
const pathOf = (controlDir: string): string => join(folderOf(controlDir), 'secret-keys')

/**
 * Reads the ring's file, or returns undefined if there is none. script/admin rotate-keys runs as root, and the folder's user
 * controls the path. So root accepts only a plain file of that user and follows no symlink.
 */
const readStored = async (controlDir: string): Promise<string | undefined> => {
  try {
    const { uid, gid } = await lstat(controlDir)
    const path = pathOf(controlDir)
    return uid === process.geteuid?.() ? await readFile(path, 'utf8') : await readOwnFile(path, { uid, gid })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Location of the ring: the setting `DOCK_SECRET_KEYS`, or `keys/secret-keys` in the control folder. */
export type KeyRingPlace = { secretKeys: string | undefined; controlDir: string }

/** Returns the ring, or undefined if there is none yet. */
export async function findKeyRing({ secretKeys, controlDir }: KeyRingPlace): Promise<KeyRing | undefined> {
  const stored = secretKeys || (await readStored(controlDir))
  return stored === undefined ? undefined : parseKeyRing(stored)
}

/** Returns the ring. The first start creates it in the control folder, with mode 0600. */
export async function ensureKeyRing(place: KeyRingPlace): Promise<KeyRing> {
  const present = await findKeyRing(place)
  if (present) return present
  const { controlDir } = place
  await mkdir(folderOf(controlDir), { recursive: true, mode: 0o700 })
  const entry = newRingEntry()
  await writeFileDurably(pathOf(controlDir), `${entry}\n`)
  return parseKeyRing(entry)
}
