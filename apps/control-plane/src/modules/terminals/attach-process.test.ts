/** Attached terminals over real links, between the fleet gateway and an agent whose processes are programs of this machine. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { createLogger, newUuid, systemClock } from '@dock/foundation'
import { acceptLink, dialLink, type LinkChannel } from '@dock/host-protocol'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { uncaughtDuring } from '@dock/testkit/src/uncaught-during.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { createFleetGateway, type FleetGateway } from '../../gateways/fleet/fleet-gateway.ts'
import { attachProcess } from './attach-process.ts'

const channels = ['control', 'bulk'] as const
const logger = createLogger('test')
logger.level = 'silent'

let host: Awaited<ReturnType<typeof createMemoryHost>>
let gateway: FleetGateway
let server: Server
let stop: AbortController
let dockId: string
const sockets = new Map<LinkChannel, Duplex>()

beforeEach(async () => {
  host = await createMemoryHost({ warmPoolSize: 0 })
  dockId = newUuid()
  await host.agent.docks.getForCommand(dockId).start(startCommand())
  gateway = createFleetGateway(systemClock, () => 0)
  stop = new AbortController()
  const webSockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  server = createServer()
  let isLinked = (): void => undefined
  server.on('upgrade', (request, raw, head) => {
    const channel = channels.find((each) => request.url?.includes(each)) ?? 'bulk'
    sockets.set(channel, raw)
    webSockets.handleUpgrade(request, raw, head, (socket) => {
      gateway.attach('host', channel, acceptLink(socket))
      isLinked()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  for (const channel of channels) {
    const linked = new Promise<void>((resolve) => {
      isLinked = resolve
    })
    void dialLink({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      credential: 'x',
      hostId: 'host',
      session: 'x',
      channel,
      logger,
      signal: stop.signal,
      handler: host.agent.app.fetch,
    })
    await linked
  }
})
afterEach(async () => {
  stop.abort()
  gateway.close()
  server.close()
  await host.agent.shutdown()
  await host.remove()
})

const attach = async () => {
  const processId = newUuid()
  await gateway.startKept(
    { hostId: 'host', dockId },
    { processId, generation: 1, argv: ['/bin/cat'], env: {}, stdin: true, pty: { cols: 80, rows: 24 } },
  )
  return (await attachProcess(gateway, systemClock, { hostId: 'host', dockId, processId }, 0)).output
}
const cut = (channel: LinkChannel) => void sockets.get(channel)?.destroy()

it.each([
  ['both links at once', () => channels.forEach(cut)],
  [
    'the link for its questions before that for its output',
    async () => {
      const isClosed = once(sockets.get('control')!, 'close')
      cut('control')
      await isClosed
      cut('bulk')
    },
  ],
])('closes a terminal whose host loses %s', async (_, lose) => {
  const uncaught = await uncaughtDuring(async () => {
    const stream = await attach()
    stream.resume()
    const failed = once(stream, 'close')
    await Promise.all([expect(failed).rejects.toThrow(), lose()])
  })
  expect(uncaught).toEqual([])
})

it('closes a terminal that nobody has begun to show', async () => {
  const uncaught = await uncaughtDuring(async () => {
    const stream = await attach()
    channels.forEach(cut)
    await expect.poll(() => stream.closed).toBe(true)
  })
  expect(uncaught).toEqual([])
})
