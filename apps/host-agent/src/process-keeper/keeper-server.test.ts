import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { uncaughtDuring } from '@dock/testkit/src/uncaught-during.ts'
import { expect, it } from 'vitest'
import type { Keeper } from './keeper.ts'
import { createKeeperServer } from './keeper-server.ts'

it('refuses a request that is no path, and serves the next one', async () => {
  const ignore = (): void => undefined
  const { server } = createKeeperServer({ docks: () => ['one'] } as unknown as Keeper, {
    ...{ log: ignore, onUse: ignore, onEndOrdered: ignore },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ask = async (path: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    return Buffer.concat(await socket.toArray()).toString()
  }
  try {
    const uncaught = await uncaughtDuring(async () => {
      const answer = await ask('//')
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer).toContain('{"code":"invalid","message":"not a path"}')
      expect(await ask('/docks')).toContain('["one"]')
    })
    expect(uncaught).toEqual([])
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
