/** Answers questions for `localhost` and the names below it, which no resolver knows (RFC 6761): they mean the Dock itself. */

const headerBytes = 12
const types: Readonly<Record<number, Buffer>> = {
  1: Buffer.from([127, 0, 0, 1]),
  28: Buffer.from([...Array<number>(15).fill(0), 1]),
}
const localhost = Buffer.from('\x09localhost\0', 'latin1')
/** Standard query, one question, nothing else but perhaps additional records. */
const isPlainQuery = (query: Buffer): boolean =>
  (query.readUInt16BE(2) & 0xf800) === 0 && query.readUInt32BE(4) === 0x1_0000 && query.readUInt16BE(8) === 0

/** Returns the end of the question's name, or null if it is not valid. */
const endOfName = (query: Buffer): number | null => {
  for (let at = headerBytes; at < query.length; ) {
    const length = query[at]!
    if (length === 0) return at + 1
    if (length > 63) return null
    at += 1 + length
  }
  return null
}

/** Returns the response to such a question, or null if the query is another one. */
export function answerLocalhost(query: Buffer): Buffer | null {
  if (query.length < headerBytes + localhost.length + 4 || !isPlainQuery(query)) return null
  const end = endOfName(query)
  if (end === null || query.length < end + 4) return null
  const last = query.toString('latin1', end - localhost.length, end).toLowerCase()
  if (last !== localhost.toString('latin1') || !isLabel(query, end - localhost.length)) return null
  const question = query.subarray(headerBytes, end + 4)
  const data = query.readUInt16BE(end + 2) === 1 ? types[query.readUInt16BE(end)] : undefined
  const header = Buffer.from(query.subarray(0, headerBytes))
  header.writeUInt16BE(0x8080 | (header.readUInt16BE(2) & 0x0100), 2)
  header.writeUInt16BE(data ? 1 : 0, 6)
  header.writeUInt16BE(0, 10)
  if (!data) return Buffer.concat([header, question])
  const record = Buffer.alloc(12)
  // The name of the question, its type and class, and 60 seconds.
  record.writeUInt16BE(0xc000 | headerBytes, 0)
  query.copy(record, 2, end, end + 4)
  record.writeUInt32BE(60, 6)
  record.writeUInt16BE(data.length, 10)
  return Buffer.concat([header, question, record, data])
}

/** True if a label of the name begins here: the bytes could also be the middle of a longer one. */
const isLabel = (query: Buffer, place: number): boolean => {
  let at = headerBytes
  while (at < place) at += 1 + query[at]!
  return at === place
}
