import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chunkBytes, newCopyKeys, serialiseCopyKeys } from '@dock/copy-format'
import { newUuid, readableOf } from '@dock/foundation'
import { capturePage, eventBytesMax, hostEvent, readLines, splitLines } from '@dock/host-protocol'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { copyPauseMsMax } from '../agent.ts'

let host: Awaited<ReturnType<typeof createMemoryHost>>
beforeEach(async () => {
  host = await createMemoryHost()
})
afterEach(() => host.remove())

const post = async (path: string, body: unknown) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await host.agent.app.request(path, { method: 'POST', body: text })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('accepts commands, and refuses them with the documented status', async () => {
  const dockId = newUuid()
  const captureId = newUuid()
  expect(await post(`/docks/${dockId}/start`, startCommand())).toEqual({
    ...{ status: 200, body: { ip: '10.0.0.1' } },
  })
  const order = { operationId: 'op_1', generation: 1 }
  expect((await post(`/docks/${dockId}/capture`, { ...order, captureId })).status).toBe(200)
  expect(await post(`/docks/${dockId}/start`, startCommand())).toMatchObject({ status: 409 })
  expect(await post(`/docks/${newUuid()}/capture`, { ...order, captureId })).toMatchObject({
    ...{ status: 409, body: { code: 'not_running' } },
  })
  const unknownImage = startCommand({ source: { kind: 'image', image: 'none' } })
  expect(await post(`/docks/${newUuid()}/start`, unknownImage)).toMatchObject({ status: 404 })
  expect((await host.residue()).disks).toEqual([dockId])
})

test('refuses an invalid request and names the field', async () => {
  const dockId = newUuid()
  expect(await post(`/docks/${dockId}/start`, '{')).toMatchObject({ status: 400, body: { code: 'invalid' } })
  const { body } = await post(`/docks/${dockId}/start`, { ...startCommand(), generation: 0 })
  expect(body).toMatchObject({ code: 'invalid', message: expect.stringContaining('generation') })
  expect(await post('/docks/not-a-uuid/start', startCommand())).toMatchObject({ status: 400 })
  // A disk and a record with this name would belong to another Dock.
  const capitals = `/docks/${dockId.toUpperCase()}/start`
  expect(await post(capitals, startCommand())).toMatchObject({ status: 400 })
  expect(await post('/elsewhere', {})).toMatchObject({ status: 404 })
})

test('a capture can be listed and read', async () => {
  const dockId = newUuid()
  const captureId = newUuid()
  await post(`/docks/${dockId}/start`, startCommand())
  await post(`/docks/${dockId}/stop`, { operationId: 'op_2', generation: 1, captureId })
  const tree = await host.agent.app.request(`/captures/${captureId}/tree`)
  expect(
    (await tree.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([{ path: '/etc/hostname', size: 5, inode: 12 }, { end: true }])
  const file = await host.agent.app.request(`/captures/${captureId}/files?path=/etc/hostname`)
  expect([file.headers.get('content-length'), await file.text()]).toEqual(['5', 'dock\n'])
  const part = async (range: string) => {
    const path = `/captures/${captureId}/files?path=/etc/hostname&range=${range}`
    const answer = await host.agent.app.request(path)
    return [
      answer.status,
      answer.headers.get('x-file-size'),
      answer.status === 200 ? await answer.text() : '',
    ]
  }
  expect(await part('1-2')).toEqual([200, '5', 'oc'])
  expect(await part('-2')).toEqual([200, '5', 'k\n'])
  expect(await part('3-')).toEqual([200, '5', 'k\n'])
  expect(await part('5-')).toEqual([200, '5', ''])
  expect(await part('2-1')).toEqual([400, null, ''])
  const link = await host.agent.app.request(`/captures/${captureId}/files?path=/link`)
  expect([link.status, await link.json()]).toMatchObject([400, { code: 'invalid' }])
  expect((await post(`/captures/${captureId}/destroy`, { operationId: 'op_3' })).body).toEqual({})
  expect((await host.agent.app.request(`/captures/${captureId}/tree`)).status).toBe(404)
})

test('a copy yields to a start, but not forever', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dock-app-'))
  const disk = join(folder, 'disk.raw')
  await writeFile(disk, randomBytes(chunkBytes))
  host.disks.captureFile = async () => disk
  const copy = async (): Promise<number> => {
    const body = JSON.stringify({ keys: serialiseCopyKeys(newCopyKeys()) })
    const path = `/captures/${newUuid()}/chunk-names`
    const answer = await host.agent.app.request(path, { method: 'POST', body })
    // Lines: the size of the disk, the chunk, the end.
    return (await answer.text()).trim().split('\n').length
  }
  const release = host.driver.hold('start')
  const started = post(`/docks/${newUuid()}/start`, startCommand())
  const begin = performance.now()
  expect(await copy()).toBe(3)
  expect(performance.now() - begin).toBeGreaterThan(copyPauseMsMax - 10)
  release()
  expect(await started).toMatchObject({ status: 200 })
  await rm(folder, { recursive: true })
})

test('the event stream begins with the inventory and reports a death at once', async () => {
  const dockId = newUuid()
  await post(`/docks/${dockId}/start`, startCommand())
  const { body } = await host.agent.app.request('/events')
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  const next = async () => hostEvent.parse(JSON.parse((await reader?.read())?.value ?? ''))
  expect(await next()).toMatchObject({
    ...{
      type: 'inventory',
      runtimes: [{ dockId, state: 'running' }],
      facts: { images: ['debian-13'] },
    },
  })
  host.driver.kill(dockId)
  expect(await next()).toEqual({ type: 'dock.died', dockId, generation: 1 })
  await reader?.cancel()
})

test('an inventory names the Docks whose generation is not known', async () => {
  const dockId = newUuid()
  await post(`/docks/${dockId}/start`, startCommand())
  await rm(host.handlesFolder, { recursive: true })
  host.agent = await host.startAgent()
  const reader = (await host.agent.app.request('/events')).body
    ?.pipeThrough(new TextDecoderStream())
    .getReader()
  const inventory = hostEvent.parse(JSON.parse((await reader?.read())?.value ?? ''))
  expect(inventory).toMatchObject({ type: 'inventory', runtimes: [], unidentified: [dockId] })
  await reader?.cancel()
})

test('a host with too many captures for an inventory lists them in pages', async () => {
  const captures = Array.from({ length: 60_000 }, newUuid)
  host.disks.list = async () => ({ disks: [], captures })
  const events = (await host.agent.app.request('/events')).body!
  for await (const [line = ''] of splitLines(events, eventBytesMax)) {
    expect(hostEvent.parse(JSON.parse(line))).toMatchObject({ type: 'inventory', captures: null })
    break
  }
  const list = readableOf((await host.agent.app.request('/captures')).body!)
  const pages = (await Array.fromAsync(readLines(list, capturePage))).flat()
  expect(pages.flatMap((page) => page.captures)).toEqual(captures)
})
