/** A name server for script/prove ssrf: serves the A and AAAA records that the proof sets, with a TTL of 0. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { parseIp } from '@dock/foundation'

/** Addresses of a name, or how the server fails. */
export type NameAnswer = readonly string[] | 'silent' | 'failing'

export type NameServer = {
  names: Map<string, NameAnswer>
  /** Questions for each name since the start. */
  asked: Map<string, number>
  close(): void
}

const typeOf = { 4: 1, 6: 28 } as const
const serverFailure = 2

const readQuestion = (query: Buffer): { name: string; type: number; end: number } => {
  const labels: string[] = []
  let at = 12
  while (query[at]! > 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
    at += 1 + query[at]!
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

const recordOf = (type: number, data: Buffer): Buffer => {
  const record = Buffer.alloc(12)
  // Points to the name in the question. The time to live stays 0.
  record.writeUInt16BE(0xc00c, 0)
  record.writeUInt16BE(type, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt16BE(data.length, 10)
  return Buffer.concat([record, data])
}

const answerTo = (query: Buffer, end: number, type: number, answer: NameAnswer): Buffer => {
  const addresses = Array.isArray(answer) ? (answer as readonly string[]) : []
  const records = addresses
    .filter((address) => typeOf[isIP(address) as 4 | 6] === type)
    .map((address) => recordOf(type, Buffer.from(parseIp(address)!.toByteArray())))
  const head = Buffer.from(query.subarray(0, end))
  head.writeUInt16BE(0x8180 | (answer === 'failing' ? serverFailure : 0), 2)
  head.writeUInt16BE(records.length, 6)
  // Neither authorities nor additional records: an option of the query is not repeated.
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...records])
}

export async function startNameServer(address: string): Promise<NameServer> {
  const socket = createSocket('udp4')
  const names = new Map<string, NameAnswer>()
  const asked = new Map<string, number>()
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query)
    asked.set(name, (asked.get(name) ?? 0) + 1)
    const answer = names.get(name) ?? []
    if (answer !== 'silent') socket.send(answerTo(query, end, type, answer), from.port, from.address)
  })
  socket.bind(53, address)
  await once(socket, 'listening')
  return { names, asked, close: () => socket.close() }
}
