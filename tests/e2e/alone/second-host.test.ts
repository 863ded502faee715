import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillTree, fingerprint } from '../../storage/storage-world.ts'
import { createDock, deleteDock, run, untilState } from '../support/dock.ts'
import {
  agentOf,
  createMachine,
  joinToken,
  type Machine,
  type RunningHost,
} from '../support/second-machine.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../support/server.ts'

let server: Server
let machine: Machine
let url: string
let hostDir: string
let host: RunningHost | undefined

beforeAll(async () => {
  machine = await createMachine(1)
  const port = await freePort()
  server = await startServer(await newDataDir(), port, {
    DOCK_BIND: '0.0.0.0',
    DOCK_COPY_MIB_PER_SECOND: '1000',
    DOCK_TEST_COPY_AGE_SECONDS: '0',
    DOCK_TEST_COPY_RETRY_SECONDS: '1',
  })
  url = `http://${machine.address}:${port}`
  hostDir = await newDataDir()
  host = await machine.joinAsHost(hostDir, url, await joinToken(server.dataDir))
})

afterAll(async () => {
  await host?.interrupt()
  await server?.interrupt()
  await machine?.remove()
  for (const dir of [hostDir, server?.dataDir]) if (dir) await removeDataDir(dir)
})

const patiently = { timeout: 90_000, interval: 200 }
const hosts = () => server.client.call('listHosts', {})
const stateOfSecond = async () =>
  (await hosts()).find(({ address }) => address.startsWith('198.19.1.'))?.state

/** Creates a Dock on the second host. Placement picks randomly between empty hosts, so this retries. */
const createThere = async (name: string) => {
  const second = (await hosts()).find(({ address }) => address.startsWith('198.19.1.'))
  for (let attempt = 0; attempt < 40; attempt++) {
    const dock = await createDock(server, { name: `${name}-${attempt}` })
    if (dock.hostId === second?.id) return dock
    await deleteDock(server, dock.id)
  }
  throw new Error('40 creates in a row went to the first host')
}

/** Returns the path of a running Dock's folder `tree` on the disk that its host has mounted. */
const diskSeenBy = async (dataDir: string, dockId: string): Promise<string> =>
  `/proc/${await agentOf(dataDir)}/root${dataDir}/host/mounts/${dockId}/home/user/work/tree`

describe('a second machine', () => {
  it('becomes a host, and Docks start, stop and resume on it', async () => {
    await expect.poll(stateOfSecond, patiently).toBe('online')
    const delivered = async (): Promise<{ digest?: string }> => {
      const log = await readFile(join(server.dataDir, 'logs/control-plane.log'), 'utf8')
      return JSON.parse(log.split('\n').find((line) => line.includes('image delivered')) ?? '{}')
    }
    await expect.poll(delivered, { timeout: 200_000, interval: 200 }).toHaveProperty('digest')
    // The image was received, not built. The pool is visible only in the agent's mount namespace.
    const images = join('/proc', String(await agentOf(hostDir)), 'root', hostDir, 'host/pool/images')
    expect(await readdir(images)).toEqual([server.admin.image])
    const version = await readFile(join(images, server.admin.image, 'version'), 'utf8')
    expect(version).toBe((await delivered()).digest)
    const dock = await createThere('far')
    await run(server, dock.id, 'echo far away > file')
    await server.client.call('stopDock', { params: { id: dock.id }, body: {} })
    await server.client.call('resumeDock', { params: { id: dock.id }, body: {} })
    const again = await untilState(server, dock.id, ['ready'])
    expect(again.hostId).toBe(dock.hostId)
    expect(await run(server, dock.id, 'cat file')).toBe('far away\n')
    await deleteDock(server, dock.id)
  })

  it('that goes silent makes its Docks unreachable, and they return unharmed when it reconnects', async () => {
    const dock = await createThere('quiet')
    await run(server, dock.id, 'setsid sleep 4711 >/dev/null 2>&1 & echo $! > pid')
    const agent = await agentOf(hostDir)
    process.kill(agent, 'SIGSTOP')
    try {
      await untilState(server, dock.id, ['unreachable'], 110_000)
      expect(await stateOfSecond()).toBe('offline')
      await expect(
        server.client.call('stopDock', { params: { id: dock.id }, body: {} }),
      ).rejects.toMatchObject({ code: 'conflict' })
    } finally {
      process.kill(agent, 'SIGCONT')
    }
    await untilState(server, dock.id, ['ready'], 110_000)
    expect(await run(server, dock.id, 'cat /proc/$(cat pid)/cmdline | tr "\\0" " "')).toContain('sleep 4711')
    const { notifications } = await server.client.call('listNotifications', { query: { limit: 20 } })
    expect(notifications.filter(({ dockId }) => dockId === dock.id).map(({ type }) => type)).toEqual([
      'stopped_responding',
    ])
    await deleteDock(server, dock.id)
  })

  it('is left clean by Ctrl-C, and boots its Docks again at its next start', async () => {
    const dock = await createThere('kept')
    await run(server, dock.id, 'echo kept > file')
    expect(await host?.interrupt()).toBe(0)
    host = undefined
    expect(await readFile('/proc/mounts', 'utf8')).not.toContain(hostDir)
    host = await machine.joinAsHost(hostDir, url)
    const read = () => run(server, dock.id, 'cat file').catch(() => '')
    await expect.poll(read, patiently).toBe('kept\n')
    await deleteDock(server, dock.id)
  })

  it('that ends with its terminal loses no stopped Dock: the Dock resumes elsewhere with identical data', async () => {
    const dock = await createThere('moves')
    await run(server, dock.id, 'mkdir tree && head -c 30000000 /dev/urandom > tree/large')
    // Written from the host, because a sandbox cannot set extended attributes.
    const there = await diskSeenBy(hostDir, dock.id)
    await fillTree(there, 11)
    const held = await fingerprint(there)
    await server.client.call('stopDock', { params: { id: dock.id }, body: {} })
    const { id } = (await server.client.call('readLatestSnapshot', { params: { id: dock.id } }))!
    const log = () => readFile(join(server.dataDir, 'logs/control-plane.log'), 'utf8')
    const said = async (message: string): Promise<boolean> =>
      (await log()).split('\n').some((line) => line.includes(message) && line.includes(id))
    await expect.poll(() => said('Snapshot copied'), patiently).toBe(true)
    expect(await host?.hangUp()).toBe(0)
    host = undefined
    expect(await readFile('/proc/mounts', 'utf8')).not.toContain(hostDir)
    await server.client.call('resumeDock', { params: { id: dock.id }, body: {} })
    const again = await untilState(server, dock.id, ['ready'])
    expect(again.hostId).not.toBe(dock.hostId)
    expect(await said('copy restored')).toBe(true)
    const here = await diskSeenBy(server.dataDir, dock.id)
    expect(await fingerprint(here)).toBe(held)
    await run(server, dock.id, 'echo more >> tree/large')
    expect(await fingerprint(here)).not.toBe(held)
    await deleteDock(server, dock.id)
  })
})
