/** The digest of a whole disk, by which a version of an image is known: of its size and of which chunk stands where. */
import { createHash } from 'node:crypto'

/** `sha256:` and 64 hexadecimal digits. Chunk names are keyed, so a disk has one digest for each set of keys. */
export function diskDigest(
  diskBytes: number,
  chunks: Iterable<readonly [index: number, name: string]>,
): string {
  const hash = createHash('sha256').update(`${diskBytes}\n`)
  for (const [index, name] of [...chunks].sort(([a], [b]) => a - b)) hash.update(`${index} ${name}\n`)
  return `sha256:${hash.digest('hex')}`
}
