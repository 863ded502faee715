/**
 * The format of a sealed value: `v1.<kid>.<base64url(salt‖iv‖tag‖ciphertext)>`, AES-256-GCM with a key per value
 * (HKDF-SHA-256 of the data key and the salt). The associated data names owner and place, so a value that was copied to
 * another row, column or owner does not open.
 */
import { createCipheriv, createDecipheriv, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { type KeyOwner, ownerName, type Place } from './sealed-place.ts'

const version = 'v1'
const saltBytes = 16
const ivBytes = 12
const tagBytes = 16
const form = new RegExp(`^${version}\\.([a-z2-7]+)\\.([A-Za-z0-9_-]+)$`)

/** A data key. Sealed values carry its `kid`. */
export type DataKey = { kid: string; key: KeyObject }

/** A sealed value cannot be opened: it is damaged or was moved, or its key was destroyed. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

const itemKey = (key: KeyObject, salt: Uint8Array): Buffer =>
  Buffer.from(hkdfSync('sha256', key, salt, 'dock sealed value v1', 32))

const associated = (kid: string, owner: KeyOwner, place: Place): Buffer =>
  Buffer.from(JSON.stringify([version, kid, owner.kind, owner.id, place.table, place.column, place.rowId]))

/** Seals a text for one place. The result differs each time. */
export function sealValue(dataKey: DataKey, owner: KeyOwner, place: Place, plaintext: string): string {
  const [salt, iv] = [randomBytes(saltBytes), randomBytes(ivBytes)]
  const cipher = createCipheriv('aes-256-gcm', itemKey(dataKey.key, salt), iv)
  cipher.setAAD(associated(dataKey.kid, owner, place))
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
  const packed = Buffer.concat([salt, iv, cipher.getAuthTag(), ciphertext])
  return `${version}.${dataKey.kid}.${packed.toString('base64url')}`
}

/** Returns the id of the data key that a value was sealed with. Throws {@link Unreadable}. */
export function kidOf(sealed: string): string {
  const kid = form.exec(sealed)?.[1]
  if (kid === undefined) throw new Unreadable('not a sealed value')
  return kid
}

/** Returns the prefix of all values sealed with a data key. */
export function prefixOf(kid: string): string {
  return `${version}.${kid}.`
}

/** Opens a sealed value. Throws {@link Unreadable}. */
export function openValue(dataKey: DataKey, owner: KeyOwner, place: Place, sealed: string): string {
  const packed = Buffer.from(form.exec(sealed)?.[2] ?? '', 'base64url')
  const [ivAt, tagAt, ciphertextAt] = [saltBytes, saltBytes + ivBytes, saltBytes + ivBytes + tagBytes]
  if (packed.length < ciphertextAt) throw new Unreadable('a sealed value is truncated')
  const decipher = createDecipheriv(
    'aes-256-gcm',
    itemKey(dataKey.key, packed.subarray(0, ivAt)),
    packed.subarray(ivAt, tagAt),
    { authTagLength: tagBytes },
  )
  decipher.setAAD(associated(dataKey.kid, owner, place))
  decipher.setAuthTag(packed.subarray(tagAt, ciphertextAt))
  try {
    return Buffer.concat([decipher.update(packed.subarray(ciphertextAt)), decipher.final()]).toString('utf8')
  } catch (error) {
    const where = `${place.table}.${place.column} of row ${place.rowId}`
    throw new Unreadable(`${where}, ${ownerName(owner)}, does not open with data key ${dataKey.kid}`, {
      cause: error,
    })
  }
}
