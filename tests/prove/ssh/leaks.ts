/** Strangers and clients that leave in the middle: nothing of theirs may stay. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchServer } from '../../../bench/parts/bench-server.ts'
import { run } from '../../e2e/support/dock.ts'
import type { Check } from './kills.ts'
import { findGrowth, measureFigures } from './process-figures.ts'

export type LeakCounts = { handshakes: number; uploads: number; readers: number }

const atOnce = 20

/** Runs `work` for each number below `count`, several at the same time. */
const each = async (count: number, work: (at: number) => Promise<void>): Promise<void> => {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await work(at)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker))
}

const rubbish = [
  Buffer.from('GET / HTTP/1.1\r\n\r\n'),
  Buffer.from('SSH-2.0-x\r\n'),
  Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), randomBytes(2_000)]),
  Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), Buffer.from([0, 0, 1, 4, 4, 20]), Buffer.alloc(300, 0xff)]),
  Buffer.alloc(0),
]

/** Each from another loopback address, so that the limits of one address do not hide what a handshake costs. */
const shakeBadly = async (port: number, at: number): Promise<void> => {
  const localAddress = `127.${1 + (at >> 14)}.${(at >> 7) & 127}.${1 + (at & 127)}`
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  socket.on('error', () => undefined).resume()
  await once(socket, 'connect')
  const closed = once(socket, 'close')
  socket.write(rubbish[at % rubbish.length]!)
  if (at % 3 === 0) socket.destroy()
  else socket.end()
  await Promise.race([closed, delay(5_000)])
  socket.destroy()
}

const open = async (server: BenchServer, head: readonly string[]): Promise<Socket> => {
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const lines = [...head, 'Host: 127.0.0.1', `Authorization: Bearer ${server.admin.apiKey}`]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return socket
}

export async function proveNoLeaks(
  server: BenchServer,
  dockId: string,
  sshPort: number,
  counts: LeakCounts,
  check: Check,
): Promise<void> {
  const before = await measureFigures(server, dockId)
  const look = async (what: string, growthMiB = 200): Promise<void> => {
    const grown = await findGrowth(server, dockId, before, growthMiB)
    check(`${what}: nothing is left behind`, grown.length === 0, grown.join(', '))
  }
  await each(counts.handshakes, (at) => shakeBadly(sshPort, at))
  await look(`${counts.handshakes} bad handshakes`)

  await each(counts.uploads, async (at) => {
    const head = [
      `PUT /v1/docks/${dockId}/files?path=/home/user/half-${at % 50} HTTP/1.1`,
      'Content-Type: application/octet-stream',
      'Content-Length: 1000000000',
    ]
    const socket = await open(server, head)
    socket.resume().write(randomBytes(100_000))
    await delay(50 + Math.random() * 300)
    socket.destroy()
  })
  await look(`${counts.uploads} half-open uploads`)
  const halves = await run(server, dockId, 'ls -A /home/user | grep -c half || true')
  check('half of an upload is no file', halves.trim() === '0', halves)

  // What nobody read was held in memory that the processes keep for later. Only what the last readers add is a leak.
  for (const [time, growthMiB] of [
    ['first', 250],
    ['second', 250],
    ['third', 60],
  ] as const) {
    await leaveReaders(server, dockId, counts.readers, check)
    // Output of a process that has ended stays: the newest 4 MiB, in files of 1 MiB.
    before.keeperFiles += 8
    await look(`${counts.readers} readers that never read, the ${time} time`, growthMiB)
    const { controlPlaneMiB, agentMiB } = await measureFigures(server, dockId)
    before.controlPlaneMiB = Math.max(before.controlPlaneMiB, controlPlaneMiB)
    before.agentMiB = Math.max(before.agentMiB, agentMiB)
  }
}

/** Lets readers that never read wait beside a process that writes without end, and ends all of them. */
async function leaveReaders(server: BenchServer, dockId: string, count: number, check: Check): Promise<void> {
  const params = { id: dockId }
  const body = { command: 'exec yes' }
  const { id: pid } = await server.client.call('startDockProcess', { params, body })
  const readers = await Promise.all(
    Array.from({ length: count }, async () => {
      const path = `/v1/docks/${dockId}/processes/${pid}/output?follow=true&offset=0`
      return (await open(server, [`GET ${path} HTTP/1.1`])).pause()
    }),
  )
  await delay(10_000)
  check('a Dock with readers that never read works', (await run(server, dockId, 'echo works')) === 'works\n')
  for (const reader of readers) reader.destroy()
  await server.client.call('signalDockProcess', { params: { ...params, pid }, body: { signal: 'KILL' } })
}
