/** Names that people can say, for Docks that were given none, and host names made of any name. */
import { randomBase32, spokenName } from '@dock/foundation'

/** `brave-otter`; with a suffix of four characters once that was taken. */
export function generateName(attempt: number): string {
  return `${spokenName()}${attempt === 0 ? '' : `-${randomBase32(4)}`}`
}

/** A label of RFC 1123 made of a Dock's name: lower case, digits, hyphens, at most 63 characters. */
export function hostnameOf(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 63)
      .replace(/^-+|-+$/g, '') || 'dock'
  )
}
