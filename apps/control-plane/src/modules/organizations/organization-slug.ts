import { randomBase32 } from '@dock/foundation'

const lengthMax = 63
const suffixLength = 6

/** A slug made from a name: lower-case letters, digits and single hyphens, 3 to 63 characters. */
export function slugFromName(name: string, fallback = 'org'): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, lengthMax)
    .replace(/^-+|-+$/g, '')
  return plain.length >= 3 ? plain : withSuffix(plain || fallback)
}

/** The same slug with a random ending, for when it is taken. */
const withSuffix = (slug: string): string =>
  `${slug.slice(0, lengthMax - suffixLength - 1).replace(/-+$/, '')}-${randomBase32(suffixLength)}`

/** Slugs to try in turn: one that was asked for is taken or refused; one that we derive gives way to another. */
export function slugCandidates(
  wanted: { name: string; slug?: string | undefined },
  fallback?: string,
): string[] {
  if (wanted.slug !== undefined) return [wanted.slug]
  const derived = slugFromName(wanted.name, fallback)
  return [derived, withSuffix(derived), withSuffix(derived)]
}
