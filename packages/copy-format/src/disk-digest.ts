/** The digest of a whole disk: its size and the position and name of each chunk. It identifies an image version. */
import { createHash } from 'node:crypto'

/** Returns `sha256:` and 64 hexadecimal digits. Chunk names are keyed, so the digest of a disk depends on the keys. */
export function diskDigest(
  diskBytes: number,
  chunks: Iterable<readonly [index: number, name: string]>,
): string {
  const hash = createHash('sha256').update(`${diskBytes}\n`)
  for (const [index, name] of [...chunks].sort(([a], [b]) => a - b)) hash.update(`${index} ${name}\n`)
  return `sha256:${hash.digest('hex')}`
}
