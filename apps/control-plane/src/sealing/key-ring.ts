/**
 * The key ring: the secrets of the instance that wrap every data key. The first key wraps, the others only unwrap, so a
 * new key is put in front and the old one stays until all data keys were wrapped anew.
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
  /** The key that wraps from now on. */
  readonly first: string
  has(ringKeyId: string): boolean
  wrap(owner: KeyOwner, dataKey: DataKey): WrappedKey
  /** Throws when the ring lacks the key, or holds another under its name. */
  unwrap(owner: KeyOwner, wrapped: WrappedKey): DataKey
  /** The first key's MAC of what the instance says to itself by way of somebody else. */
  mac(text: string): string
  /** Whether a key of the ring made this MAC. */
  isMac(text: string, mac: string): boolean
}

const macKeyOf = (key: KeyObject): Buffer => Buffer.from(hkdfSync('sha256', key, '', 'dock mac v1', keyBytes))
const macOf = (macKey: Buffer, text: string): Buffer => createHmac('sha256', macKey).update(text).digest()

/** What a wrapped key belongs to is authenticated with it: it serves no other owner and under no other name. */
const associated = (ringKeyId: string, owner: KeyOwner, kid: string): Buffer =>
  Buffer.from(JSON.stringify(['dock data key v1', ringKeyId, owner.kind, owner.id, kid]))

/**
 * Reads `id:base64` entries of 32 bytes each, separated by commas or white space (`DOCK_SECRET_KEYS` and the generated
 * file alike). Errors name the entry's place and never its content.
 */
export function parseKeyRing(text: string): KeyRing {
  const keys = new Map<string, KeyObject>()
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '')
  for (const [index, entry] of entries.entries()) {
    const [, id, encoded] = entryForm.exec(entry) ?? []
    if (id === undefined || encoded === undefined)
      throw new Error(`Key ${index + 1} of the key ring must read <id>:<32 bytes in base64>.`)
    if (keys.has(id)) throw new Error(`The key ring names the key ${id} twice.`)
    keys.set(id, createSecretKey(Buffer.from(encoded, 'base64')))
  }
  const first = keys.keys().next().value
  if (first === undefined) throw new Error('The key ring holds no key.')
  const keyNamed = (id: string): KeyObject => {
    const key = keys.get(id)
    if (!key)
      throw new Error(`The key ring lacks the key ${id}, which data keys are wrapped with. Add it again.`)
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
          `The key ring's key ${ringKeyId} does not open the data key of ${ownerName(owner)}: it is not the one it was wrapped with.`,
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

/** A new entry of a ring, as {@link parseKeyRing} reads it. */
export function newRingEntry(): string {
  return `${randomBase32(8)}:${randomBytes(keyBytes).toString('base64url')}`
}

const folderOf = (controlDir: string): string => join(controlDir, 'keys')
const pathOf = (controlDir: string): string => join(folderOf(controlDir), 'secret-keys')

/**
 * Content of the ring's file. Root, which runs script/rotate-keys, follows no path that the folder's user can write: it
 * takes a plain file of that user's only.
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

/** Where a ring may be: the setting `DOCK_SECRET_KEYS`, or `keys/secret-keys` in the control folder. */
export type KeyRingPlace = { secretKeys: string | undefined; controlDir: string }

/** The ring, if there is one yet. */
export async function findKeyRing({ secretKeys, controlDir }: KeyRingPlace): Promise<KeyRing | undefined> {
  const stored = secretKeys || (await readStored(controlDir))
  return stored === undefined ? undefined : parseKeyRing(stored)
}

/** The ring, made in the control folder (mode 0600) at the first start. */
export async function ensureKeyRing(place: KeyRingPlace): Promise<KeyRing> {
  const present = await findKeyRing(place)
  if (present) return present
  const { controlDir } = place
  await mkdir(folderOf(controlDir), { recursive: true, mode: 0o700 })
  const entry = newRingEntry()
  await writeFileDurably(pathOf(controlDir), `${entry}\n`)
  return parseKeyRing(entry)
}
