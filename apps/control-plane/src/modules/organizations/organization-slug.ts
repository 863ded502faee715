import { randomBase32 } from '@dock/foundation'

const lengthMax = 63
const suffixLength = 6

/** Derives a slug from a name: lower-case letters, digits and single hyphens, 3 to 63 characters. */
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

/** Returns the slug with a random suffix. */
const withSuffix = (slug: string): string =>
  `${slug.slice(0, lengthMax - suffixLength - 1).replace(/-+$/, '')}-${randomBase32(suffixLength)}`

/**
 * Returns the slugs to try in order. A slug that the caller chose is the only candidate. A slug derived from the name
 * has alternatives with random suffixes.
 */
export function slugCandidates(
  wanted: { name: string; slug?: string | undefined },
  fallback?: string,
): string[] {
  if (wanted.slug !== undefined) return [wanted.slug]
  const derived = slugFromName(wanted.name, fallback)
  return [derived, withSuffix(derived), withSuffix(derived)]
}
