/** ssh2's client does not know the exchange, so the client is written out here up to the first encrypted packet. */
import {
  createHash,
  createPublicKey,
  decapsulate,
  diffieHellman,
  generateKeyPairSync,
  randomBytes,
  verify,
} from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { readPublicKey } from '../keys/public-key.ts'
import { bytesOfString, SshReader } from '../keys/ssh-reader.ts'
import { hostKey, startTestServer, type TestServer } from '../testing/start-test-pair.ts'
import { postQuantumExchange } from './post-quantum-exchange.ts'

let server: TestServer
let socket: Socket
afterEach(() => {
  socket.destroy()
  server.stop()
})

const [kexInit, exchangeInit, exchangeReply] = [20, 30, 31]
const ident = 'SSH-2.0-test'
const list = (...names: string[]): Buffer => bytesOfString(Buffer.from(names.join(',')))

/** Returns functions that send a packet and wait for one, before there are keys. */
const openPackets = async () => {
  let arrived = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    arrived = Buffer.concat([arrived, bytes])
    socket.emit('more')
  })
  const take = async (find: () => number): Promise<Buffer> => {
    for (let end = find(); ; end = find()) {
      if (end > 0) {
        const taken = arrived.subarray(0, end)
        arrived = arrived.subarray(end)
        return taken
      }
      await once(socket, 'more')
    }
  }
  const serverIdent = (await take(() => arrived.indexOf('\n') + 1)).toString().trim()
  return {
    serverIdent,
    send: (payload: Buffer): void => {
      const padding = 16 - ((payload.length + 5) % 8)
      const head = Buffer.alloc(5)
      head.writeUInt32BE(payload.length + padding + 1)
      head[4] = padding
      socket.write(Buffer.concat([head, payload, Buffer.alloc(padding)]))
    },
    receive: async (): Promise<Buffer> => {
      const packet = await take(() => {
        const end = arrived.length < 5 ? 0 : 4 + arrived.readUInt32BE()
        return end <= arrived.length ? end : 0
      })
      return packet.subarray(5, packet.length - packet[4]!)
    },
  }
}

it('agrees on the hybrid secret, over the packets that were really sent', async () => {
  server = await startTestServer()
  socket = connect(server.port, '127.0.0.1').on('error', () => undefined)
  const greeted = openPackets()
  socket.write(`${ident}\r\n`)
  const { serverIdent, send, receive } = await greeted

  const algorithms = [
    list(postQuantumExchange, 'curve25519-sha256'),
    list('ecdsa-sha2-nistp256'),
    ...Array.from({ length: 2 }, () => list('aes128-gcm@openssh.com')),
    ...Array.from({ length: 2 }, () => list('hmac-sha2-256')),
    ...Array.from({ length: 2 }, () => list('none')),
    ...Array.from({ length: 2 }, () => list('')),
  ]
  const clientInit = Buffer.concat([Buffer.from([kexInit]), randomBytes(16), ...algorithms, Buffer.alloc(5)])
  send(clientInit)
  const serverInit = await receive()
  expect(serverInit[0]).toBe(kexInit)

  const [kem, classical] = [generateKeyPairSync('ml-kem-768'), generateKeyPairSync('x25519')]
  const raw = (key: typeof kem.publicKey, bytes: number): Buffer =>
    key.export({ type: 'spki', format: 'der' }).subarray(-bytes)
  const clientData = Buffer.concat([raw(kem.publicKey, 1184), raw(classical.publicKey, 32)])
  send(Buffer.concat([Buffer.from([exchangeInit]), bytesOfString(clientData)]))

  const reply = await receive()
  expect(reply[0]).toBe(exchangeReply)
  const reader = new SshReader(reply.subarray(1))
  const [key, serverData, signature] = [reader.string(), reader.string(), new SshReader(reader.string())]
  expect(serverData).toHaveLength(1088 + 32)
  const x25519Prefix = Buffer.from('302a300506032b656e032100', 'hex')
  const serverKey = createPublicKey({
    key: Buffer.concat([x25519Prefix, serverData.subarray(1088)]),
    type: 'spki',
    format: 'der',
  })
  const secret = createHash('sha256')
    .update(decapsulate(kem.privateKey, serverData.subarray(0, 1088)))
    .update(diffieHellman({ privateKey: classical.privateKey, publicKey: serverKey }))
    .digest()
  const hashed = [Buffer.from(ident), Buffer.from(serverIdent), clientInit, serverInit]
  const exchangeHash = createHash('sha256')
  for (const each of [...hashed, key, clientData, serverData, secret])
    exchangeHash.update(bytesOfString(each))

  expect(signature.string().toString()).toBe('ecdsa-sha2-nistp256')
  const parts = new SshReader(signature.string())
  const fixed = (integer: Buffer): Buffer => Buffer.concat([Buffer.alloc(32), integer]).subarray(-32)
  const signed = Buffer.concat([fixed(parts.string()), fixed(parts.string())])
  const known = readPublicKey(hostKey.public)!
  expect(key.equals(known.bytes)).toBe(true)
  expect(verify('sha256', exchangeHash.digest(), { key: known.key, dsaEncoding: 'ieee-p1363' }, signed)).toBe(
    true,
  )
})
