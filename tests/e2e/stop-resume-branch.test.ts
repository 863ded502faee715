import { describe, expect, it } from 'vitest'
import { createDock, deleteDock, exec, run, untilState } from './support/dock.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()

const content = 'head -c 20000000 /dev/urandom > data && sha256sum data'

describe('stop and resume', () => {
  it('keeps every byte of the disk in a Snapshot', async () => {
    const dock = await createDock(server)
    const before = await run(server, dock.id, content)
    expect(await server.client.call('stopDock', { params: { id: dock.id }, body: {} })).toEqual({
      id: dock.id,
      state: 'archived',
    })
    const snapshot = await server.client.call('readLatestSnapshot', { params: { id: dock.id } })
    expect(snapshot).toMatchObject({
      dockId: dock.id,
      status: 'completed',
      runtime: dock.runtime,
      sizeBytes: expect.any(Number),
    })
    await expect(exec(server, dock.id, 'true')).rejects.toMatchObject({ code: 'dock_not_running' })
    await server.client.call('resumeDock', { params: { id: dock.id }, body: {} })
    await untilState(server, dock.id, ['ready'])
    expect(await run(server, dock.id, 'sha256sum data')).toBe(before)
    await deleteDock(server, dock.id)
  })

  it('a second stop returns the state, and a resume of a running Dock is a conflict', async () => {
    const dock = await createDock(server)
    await expect(
      server.client.call('resumeDock', { params: { id: dock.id }, body: {} }),
    ).rejects.toMatchObject({
      code: 'conflict',
    })
    await server.client.call('stopDock', { params: { id: dock.id }, body: {} })
    expect(await server.client.call('stopDock', { params: { id: dock.id }, body: {} })).toMatchObject({
      state: 'archived',
    })
    await deleteDock(server, dock.id)
  })
})

describe('branch', () => {
  it('copies a running Dock, which keeps running; the two are independent', async () => {
    const source = await createDock(server, { name: freshName('trunk') })
    const before = await run(server, source.id, content)
    const name = freshName('twig')
    const branch = await server.client.call('branchDock', {
      params: { id: source.id },
      body: { name },
    })
    expect(branch).toMatchObject({ name, state: 'ready', image: source.image })
    expect(await run(server, branch.id, 'sha256sum data')).toBe(before)
    expect(await run(server, branch.id, 'cat /proc/sys/kernel/hostname')).not.toBe(
      await run(server, source.id, 'cat /proc/sys/kernel/hostname'),
    )
    await run(server, branch.id, 'rm data && echo other > mine')
    expect(await run(server, source.id, 'sha256sum data; ls mine 2>/dev/null || true')).toBe(before)
    await Promise.all([deleteDock(server, source.id), deleteDock(server, branch.id)])
  })
})

describe('an idempotency key', () => {
  it('creates one Dock, however often it is sent', async () => {
    const body = { workspaceId: server.admin.workspaceId, cpus: 1, memoryMiB: 1024, diskGiB: 2 }
    const headers = { 'idempotency-key': freshName('only-once') }
    const first = await server.client.call('createDock', { body, headers })
    const second = await server.client.call('createDock', { body, headers })
    expect(second.id).toBe(first.id)
    await expect(
      server.client.call('createDock', { body: { ...body, cpus: 2 }, headers }),
    ).rejects.toMatchObject({ code: 'idempotency_key_reused', status: 409 })
    await deleteDock(server, first.id)
  })
})
