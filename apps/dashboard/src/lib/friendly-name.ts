const adjectives =
  'amber bold brisk calm clear coral dusty eager fair fresh gentle golden keen lively lucid mellow nimble quiet rapid sunny swift tidal warm wise'.split(
    ' ',
  )
const nouns =
  'anchor bay beacon buoy canal cove current delta ferry fjord harbor island jetty keel lagoon marina pier quay reef sail shore skiff strait tide wharf'.split(
    ' ',
  )

const pick = (words: readonly string[]): string =>
  words[crypto.getRandomValues(new Uint32Array(1))[0]! % words.length]!

/** Returns a name such as `calm-harbor-47`, for a Dock that nobody has named yet. */
export function friendlyName(): string {
  return `${pick(adjectives)}-${pick(nouns)}-${(crypto.getRandomValues(new Uint8Array(1))[0]! % 90) + 10}`
}
