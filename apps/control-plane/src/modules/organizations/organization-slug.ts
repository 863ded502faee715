import { randomBase32 } from '@dock/foundation'

const lengthMax = 63
const suffixLength = 6

/** A slug made from a name: lower-case letters, digits and single hyphens, 3 to 63 characters. */
export const slugFromName = (name: string): string => {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, lengthMax)
    .replace(/^-+|-+$/g, '')
  return plain.length >= 3 ? plain : withSuffix(plain || 'org')
}

/** The same slug with a random ending, for when it is taken. */
export const withSuffix = (slug: string): string =>
  `${slug.slice(0, lengthMax - suffixLength - 1).replace(/-+$/, '')}-${randomBase32(suffixLength)}`
