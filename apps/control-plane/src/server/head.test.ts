/** HEAD on streaming routes: the headers of a GET, and no stream left open. */
import { Readable } from 'node:stream'
import { limits } from '@dock/contract'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

const { openPerUserMax, openPerHostAndOrganizationMax } = limits.snapshotReadings
/** The most streams that one person, and one organization on one host, may have open. */
const atOnce = Math.min(openPerUserMax, openPerHostAndOrganizationMax)

let server: ControlPlaneWithHost
let snapshotId: string
let opened = 0
let open = 0

beforeAll(async () => {
  server = await startControlPlaneWithHost()
  const dockId = await server.addDock()
  await server.call('POST', `/v1/docks/${dockId}/stop`, {})
  const listed = await server.call('GET', `/v1/docks/${dockId}/snapshots`)
  snapshotId = (listed.body.data as { snapshots: { id: string }[] }).snapshots[0]!.id
  // Like the streams of a real link, these stay open until they are read to the end or cancelled.
  server.host.readCaptureFile = async () => {
    opened += 1
    open += 1
    const body = new Readable({ read: () => undefined })
    body.once('close', () => {
      open -= 1
    })
    return { size: 2 ** 20, length: 2 ** 20, body }
  }
  server.host.listCaptureFiles = async function* () {
    opened += 1
    open += 1
    try {
      for (;;) yield [{ path: '/etc/hostname', size: 5, inode: 12 }]
    } finally {
      open -= 1
    }
  }
})
afterAll(() => server.stop())
beforeEach(() => {
  opened = 0
})

const ask = (method: string, path: string): Promise<Response> =>
  Promise.resolve(
    server.controlPlane.app.request(`/v1/snapshots/${snapshotId}/${path}`, {
      method,
      headers: { authorization: `Bearer ${server.admin.apiKey}` },
    }),
  )

it.each(['files?path=/etc/hostname', 'tree', 'download'])(
  'many HEAD requests on %s leave no stream open',
  async (path) => {
    // Each wave uses up the limit, so it succeeds only if the earlier waves left no stream open.
    for (let wave = 0; wave < 3; wave++) {
      const answers = await Promise.all(Array.from({ length: atOnce }, () => ask('HEAD', path)))
      for (const answer of answers) {
        expect([answer.status, answer.body]).toEqual([200, null])
        expect(answer.headers.get('content-type')).toMatch(/^application\/(json|octet-stream)/)
      }
    }
    expect(opened).toBe(3 * atOnce)
    await expect.poll(() => open).toBe(0)
  },
)

it('HEAD on a file returns its size', async () => {
  expect((await ask('HEAD', 'files?path=/etc/hostname')).headers.get('content-length')).toBe(String(2 ** 20))
})

it.each(['files?path=/etc/hostname', 'tree', 'download'])(
  'a caller that disconnects before reading %s closes its stream',
  async (path) => {
    const answer = await ask('GET', path)
    expect(open).toBe(1)
    await answer.body?.cancel()
    await expect.poll(() => open).toBe(0)
  },
)
