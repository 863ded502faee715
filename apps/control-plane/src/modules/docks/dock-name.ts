/** Names that people can say, for Docks that were given none, and host names made of any name. */
import { randomInt } from 'node:crypto'
import { randomBase32 } from '@dock/foundation'

const adjectives =
  'amber bold brave bright brisk calm clear clever coral crisp eager fair fleet gentle golden grand keen kind lively lucky mellow merry mild misty noble proud quick quiet rapid silver sleek smart snowy solid steady sunny swift tidal vivid warm wise'.split(
    ' ',
  )
const nouns =
  'anchor arch bay beacon berth bridge buoy canal cape cliff coast cove current delta dune estuary ferry fjord gull harbor heron island jetty keel kelp lagoon lantern marina mast otter pearl pier quay reef ridge river sail shell shore sloop tern tide wharf'.split(
    ' ',
  )

const pick = (words: readonly string[]): string => words[randomInt(words.length)]!

/** `brave-otter`; with a suffix of four characters once that was taken. */
export const generateName = (attempt: number): string =>
  `${pick(adjectives)}-${pick(nouns)}${attempt === 0 ? '' : `-${randomBase32(4)}`}`

/** A label of RFC 1123 made of a Dock's name: lower case, digits, hyphens, at most 63 characters. */
export const hostnameOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '') || 'dock'
