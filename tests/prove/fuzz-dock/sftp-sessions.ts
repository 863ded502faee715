/** Sessions of the sftp subsystem with random packets: framed as the protocol wants, wrong inside, and broken off. */
import { once } from 'node:events'
import fc from 'fast-check'
import type { SshClient } from '../../api/ssh/ssh-client.ts'
import { folder } from './file-requests.ts'

export type SftpSession = { bytes: Buffer; isKilled: boolean; reads: boolean }

const text = (value: Uint8Array | string): Buffer => {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
const numberOf = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const packetOf = (type: number, body: Buffer): Buffer => text(Buffer.concat([Buffer.of(type), body]))

const field = fc.oneof(
  fc
    .constantFrom(`${folder}/file`, folder, '.', '', '/', `${folder}/pipe`, '/dev/zero', `${folder}/x`)
    .map(text),
  // Handles are numbers that begin with 0.
  fc.nat(4).map((handle) => text(numberOf(handle))),
  fc.uint8Array({ maxLength: 300 }).map(text),
  fc.constantFrom(0, 1, 0x1a, 0x8000_0000, 0xffff_ffff).map(numberOf),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
)
const body = fc
  .tuple(fc.nat(2 ** 32 - 1).map(numberOf), fc.array(field, { maxLength: 4 }))
  .map(([id, fields]) => Buffer.concat([id, ...fields]))
/** The types from OPEN to SYMLINK, the extended one, and any other. */
const type = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 3, max: 20 }) },
  fc.constantFrom(200, 1, 0, 255),
)
const packet = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(type, body).map(([kind, bytes]) => packetOf(kind, bytes)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
)

export const sftpSession: fc.Arbitrary<SftpSession> = fc
  .record({
    packets: fc.array(packet, { maxLength: 60 }),
    hasBegin: fc.integer({ min: 0, max: 9 }),
    isKilled: fc.boolean(),
    reads: fc.boolean(),
  })
  .map(({ packets, hasBegin, isKilled, reads }) => ({
    bytes: Buffer.concat([...(hasBegin === 0 ? [] : [packetOf(1, numberOf(3))]), ...packets]),
    ...{ isKilled, reads: reads || !isKilled },
  }))

/** Runs a session. Resolves when the client has ended. */
export async function runSftpSession(
  client: SshClient,
  user: string,
  { bytes, isKilled, reads }: SftpSession,
): Promise<void> {
  const args = [...client.options(), '-o', 'ServerAliveInterval=20', '-s', '-l', user, '127.0.0.1', 'sftp']
  const child = client.start('ssh', args)
  const ended = once(child, 'close')
  child.stdin.on('error', () => undefined)
  child.stderr.resume()
  if (reads) child.stdout.resume()
  if (isKilled) child.stdin.write(bytes, () => child.kill('SIGKILL'))
  else child.stdin.end(bytes)
  // Nobody waits for output that is not read.
  child.once('exit', () => child.stdout.destroy())
  await ended
}
