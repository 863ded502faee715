/** Generates pronounceable Dock names, and derives host names from Dock names. */
import { randomBase32, readableName } from '@dock/foundation'

/** Returns a name such as `brave-otter`. From the second attempt (`attempt` > 0) on it has a random 4-character suffix. */
export function generateName(attempt: number): string {
  return `${readableName()}${attempt === 0 ? '' : `-${randomBase32(4)}`}`
}

/** Converts a Dock's name to a host name label (RFC 1123): lower case, digits and hyphens, at most 63 characters. */
export function hostnameOf(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 63)
      .replace(/^-+|-+$/g, '') || 'dock'
  )
}
