/** The memory that all SSH connections of one person share, filled through OpenSSH. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { limits } from '@dock/contract'
import { addPerson } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SshWorld, startSshWorld } from './ssh-world.ts'

const mebibyte = 2 ** 20
/** The real limit needs half a gigabyte to be sent. */
const bytesMax = 48 * mebibyte
/** A connection with this many streams stays below its own limit of 32 MiB: each waits for 2 MiB. */
const streamsEach = 14
const connections = 10
const waitingBytes = connections * streamsEach * 2 * mebibyte
const offered = Buffer.alloc(64 * 1024)
const offeredTimes = 48

let world: SshWorld
let sink: Server
const sockets: Socket[] = []
const usual = limits.ssh.bufferedBytesPerUserMax

beforeAll(async () => {
  Reflect.set(limits.ssh, 'bufferedBytesPerUserMax', bytesMax)
  world = await startSshWorld()
  sink = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined)
    sockets.push(socket)
  })
  // A program of the Dock connects to it. Of TCP, the kernel would take all that is sent.
  sink.listen(join(world.client.folder, 'sink'))
  await once(sink, 'listening')
})
afterAll(async () => {
  Reflect.set(limits.ssh, 'bufferedBytesPerUserMax', usual)
  for (const socket of sockets) socket.destroy()
  sink?.close()
  await world?.stop()
})

it('is bounded over all connections of a person, and others can work meanwhile', {
  timeout: 240_000,
}, async () => {
  const { client, server } = world
  const dockId = await server.addDock()
  const neighbor = await addPerson(server, { role: 'member' })
  await world.addKey(await client.makeKey('neighbor', '-t', 'ed25519'), neighbor.apiKey)
  const works = async (key: string): Promise<void> => {
    const args = [...client.options(key), '-l', dockId, '127.0.0.1', 'echo works']
    expect(await client.run('ssh', args)).toMatchObject({ code: 0, stdout: 'works\n', stderr: '' })
  }
  const masters: ChildProcess[] = []
  let cut = 0
  for (let at = 0; at < connections; at++) {
    const forward = `${join(client.folder, `forward-${at}`)}:${join(client.folder, 'sink')}`
    const master = client.start('ssh', [...client.options(), '-NL', forward, '-l', dockId, '127.0.0.1'])
    master.once('exit', () => {
      cut += 1
    })
    masters.push(master)
  }
  const heldNow = (): number => process.memoryUsage().arrayBuffers
  const before = heldNow()
  let largest = before
  const sampling = setInterval(() => {
    largest = Math.max(largest, heldNow())
  }, 20)
  const fill = async (at: number): Promise<void> => {
    const socket = await dialled(join(client.folder, `forward-${at}`))
    for (let time = 0; time < offeredTimes; time++) socket.write(offered)
  }
  const indices = masters.flatMap((_, at) => Array.from({ length: streamsEach }, () => at))
  await Promise.all(indices.map(fill))
  while (cut === 0) await works('neighbor')
  clearInterval(sampling)
  expect(largest - before).toBeLessThan((bytesMax + waitingBytes) / 2)
  expect(cut).toBeLessThan(connections)
  await works('id')
  for (const master of masters) master.kill()
  await expect.poll(() => cut).toBe(connections)
})

/** Connects as soon as `ssh` listens there. */
const dialled = async (path: string): Promise<Socket> => {
  for (;;) {
    const socket = dial({ path })
    sockets.push(socket)
    const isConnected = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.on('error', () => undefined)
    if (isConnected) return socket
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
