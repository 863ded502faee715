import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { rotateSshHostKeys } from '@dock/control-plane/keys'
import { systemClock } from '@dock/foundation'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Outcome, SshClient } from './ssh-client.ts'
import { type SshWorld, startSshWorld } from './ssh-world.ts'

let world: SshWorld
let client: SshClient
let dockId: string

beforeAll(async () => {
  world = await startSshWorld()
  client = world.client
})
afterAll(() => world?.stop())
beforeEach(async () => {
  dockId = await world.server.addDock()
})

const ssh = (...args: string[]): Promise<Outcome> => client.ssh(dockId, ...args)

it.each(['curve25519-sha256', 'ecdh-sha2-nistp256', 'ecdh-sha2-nistp521'])(
  'exchanges keys with %s',
  async (exchange) => {
    expect(await ssh('-o', `KexAlgorithms=${exchange}`, 'echo in')).toMatchObject({ code: 0, stdout: 'in\n' })
  },
)

it.each([
  ['aes256-ctr,aes128-ctr,aes256-gcm@openssh.com', 'aes256-gcm@openssh.com'],
  ['aes128-ctr,aes128-gcm@openssh.com', 'aes128-gcm@openssh.com'],
  ['aes192-ctr,aes128-ctr', 'aes192-ctr'],
])('of the ciphers %s uses %s', async (offered, used) => {
  const ended = await ssh('-v', '-o', 'LogLevel=DEBUG1', '-o', `Ciphers=${offered}`, 'echo in')
  expect(ended).toMatchObject({ code: 0, stdout: 'in\n' })
  expect(ended.stderr.match(/(?<=cipher: )\S+/g)).toEqual([used, used])
})

it('tells a client that waits for the first word which ciphers there are', async () => {
  const socket = connect(world.port, '127.0.0.1')
  socket.write('SSH-2.0-waits\r\n')
  let said = ''
  for await (const bytes of socket) {
    said += bytes
    if (said.includes('aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes128-ctr')) break
  }
  expect(said).toContain('aes256-ctr')
})

it('prefers AES, and refuses chacha20, SHA-1 and compression', async () => {
  const ended = await ssh('-v', '-o', 'LogLevel=DEBUG1', '-C', 'true')
  expect(ended.stderr).toMatch(/cipher: aes\S+-gcm\S+ .*compression: none/)
  for (const option of ['Ciphers=chacha20-poly1305@openssh.com', 'KexAlgorithms=diffie-hellman-group14-sha1'])
    expect((await ssh('-o', option, 'true')).code).toBe(255)
})

it('shows the same host keys to every client, and others once they are rotated', async () => {
  const scan = async (): Promise<string[]> =>
    (await client.run('ssh-keyscan', ['-p', `${world.port}`, '127.0.0.1'])).stdout
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .sort()
  const before = await scan()
  expect(before.map((line) => line.split(' ')[1])).toEqual(['ecdsa-sha2-nistp256', 'ssh-ed25519'])
  expect(await scan()).toEqual(before)
  const { database, controlPlane } = world.server
  await rotateSshHostKeys({ db: database.db, clock: systemClock, sealer: controlPlane.sealer })
  await expect.poll(scan).not.toEqual(before)
  expect((await ssh('true')).code).toBe(255)
  await rm(join(client.folder, 'known_hosts'))
  expect((await ssh('true')).code).toBe(0)
})

/** The OpenSSH of the image debian-13, in the unpacked root filesystem that tests use. */
const rootfs = process.env.DOCK_TEST_ROOTFS
const newest = rootfs !== undefined && existsSync(join(rootfs, 'usr/bin/ssh')) ? rootfs : null

describe.skipIf(newest === null)('OpenSSH 10', () => {
  /** Runs its ssh with the libraries that belong to it. */
  const newestSsh = (args: string[], input?: Buffer): Promise<Outcome> => {
    const library = `${newest}/usr/lib/x86_64-linux-gnu`
    return client.run(
      `${library}/ld-linux-x86-64.so.2`,
      [
        '--library-path',
        library,
        `${newest}/usr/bin/ssh`,
        ...client.options(),
        '-l',
        dockId,
        '127.0.0.1',
        ...args,
      ],
      input,
    )
  }

  it('exchanges keys post-quantum and prints no warning', async () => {
    const ended = await newestSsh(['-o', 'LogLevel=INFO', 'echo in'])
    expect(ended).toEqual({ code: 0, signal: null, stdout: 'in\n', stderr: '' })
    const verbose = await newestSsh(['-v', '-o', 'LogLevel=DEBUG1', 'true'])
    expect(verbose.stderr).toContain('kex: algorithm: mlkem768x25519-sha256')
  })

  it('exchanges keys again in the middle of a stream', async () => {
    const bytes = randomBytes(10_000_000)
    const ended = await newestSsh(['-v', '-o', 'LogLevel=DEBUG1', '-o', 'RekeyLimit=1M', 'cat'], bytes)
    expect(ended.code).toBe(0)
    expect(Buffer.from(ended.stdout, 'latin1').equals(bytes)).toBe(true)
    expect(ended.stderr.split('kex: algorithm: mlkem768x25519-sha256').length).toBeGreaterThan(5)
  })
})

it('exchanges keys again in the middle of a stream with an older client', async () => {
  const bytes = randomBytes(10_000_000)
  const args = [...client.options(), '-o', 'RekeyLimit=1M', '-l', dockId, '127.0.0.1', 'cat']
  const ended = await client.run('ssh', args, bytes)
  expect(Buffer.from(ended.stdout, 'latin1').equals(bytes)).toBe(true)
})
