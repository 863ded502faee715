/** Generates names that are easy to say and to distinguish. */
import { randomInt } from 'node:crypto'

const adjectives =
  'amber bold brave bright brisk calm clear clever coral crisp eager fair fleet gentle golden grand keen kind lively lucky mellow merry mild misty noble proud quick quiet rapid silver sleek smart snowy solid steady sunny swift tidal vivid warm wise'.split(
    ' ',
  )
const nouns =
  'anchor arch bay beacon berth bridge buoy canal cape cliff coast cove current delta dune estuary ferry fjord gull harbor heron island jetty keel kelp lagoon lantern marina mast otter pearl pier quay reef ridge river sail shell shore sloop tern tide wharf'.split(
    ' ',
  )

const pick = (words: readonly string[]): string => words[randomInt(words.length)]!

/** Returns a name such as `brave-otter`, which is also a valid host name. Not unique. */
export function readableName(): string {
  return `${pick(adjectives)}-${pick(nouns)}`
}
