import { systemClock } from '@dock/foundation'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPortRoutes } from './port-routes.ts'

let server: ControlPlaneWithHost
beforeAll(async () => {
  server = await startControlPlaneWithHost()
})
afterAll(() => server.stop())

it('reads a route again if its port was removed while the route was being read', async () => {
  const dockId = await server.addDock()
  const exposed = await server.call('POST', `/v1/docks/${dockId}/ports`, { port: 3000 })
  const label = /-([a-z2-7]{20})\./.exec((exposed.body.data as { url: string }).url)?.[1] ?? ''
  let hasRead = (): void => undefined
  let goOn = (): void => undefined
  const read = new Promise<void>((resolve) => {
    hasRead = resolve
  })
  const gate = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const db = server.database.db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      hasRead()
      await gate
      return result
    },
  })
  const routes = createPortRoutes({ db, clock: systemClock })
  const found = routes.find(label)
  await read
  await server.call('DELETE', `/v1/docks/${dockId}/ports/3000`)
  routes.notice(label)
  goOn()
  expect(await found).toBeNull()
})
