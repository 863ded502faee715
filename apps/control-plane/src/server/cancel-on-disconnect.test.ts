import { type ClientRequest, request } from 'node:http'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'

let server: ControlPlaneWithHost
let port: number
beforeAll(async () => {
  server = await startControlPlaneWithHost()
  port = (await server.listen()).port
})
afterAll(() => server.stop())

/** Begins a command and returns its request once the host runs it. */
const begin = async (dockId: string, command: string, headers: object): Promise<ClientRequest> => {
  const count = server.host.calls.length
  const sent = request({
    port,
    path: `/v1/docks/${dockId}/exec`,
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.admin.apiKey}`,
      'content-type': 'application/json',
      ...headers,
    },
  })
  sent.on('error', () => undefined)
  sent.end(JSON.stringify({ command }))
  await expect.poll(() => server.host.calls.length).toBe(count + 1)
  return sent
}

it('ends a command with its caller, if the header asks for it', async () => {
  const dockId = await server.addDock()
  const gate = Promise.withResolvers<void>()
  server.host.gate.set('exec', gate.promise)
  const kept = await begin(dockId, 'kept', {})
  const refused = await begin(dockId, 'refused', { 'x-dock-cancel-on-disconnect': 'false' })
  const ended = await begin(dockId, 'ended', { 'x-dock-cancel-on-disconnect': 'true' })
  for (const each of [kept, refused, ended]) each.destroy()
  await expect.poll(() => server.host.cancelled).toEqual(['ended'])
  gate.resolve()
})
