/**
 * One fleet with a host of each runtime: this machine runs gVisor, the second one emulated microVMs. The parts of the test
 * follow one another, because each boot of a microVM takes seconds.
 */
import { execFile } from 'node:child_process'
import { access, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Dock, RuntimeName } from '@dock/contract'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDock, run, untilState } from '../support/dock.ts'
import {
  agentOf,
  createMachine,
  joinToken,
  type Machine,
  type RunningHost,
} from '../support/second-machine.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../support/server.ts'
import { signIn } from '../support/session.ts'

const { DOCK_TEST_MICROVM: microvm, DOCK_TEST_GUEST_AGENT: guestAgent } = process.env
const emulated = { DOCK_RUNTIME: 'microvm', DOCK_MICROVM_TCG: 'allow' }

let server: Server
let machine: Machine
let url: string
let hostDir: string
let host: RunningHost | undefined

beforeAll(async () => {
  if (!microvm) return
  machine = await createMachine(3)
  const port = await freePort()
  server = await startServer(await newDataDir(), port, {
    DOCK_RUNTIME: 'gvisor',
    DOCK_BIND: '0.0.0.0',
    DOCK_COPY_MIB_PER_SECOND: '1000',
    DOCK_TEST_COPY_AGE_SECONDS: '0',
    DOCK_TEST_COPY_RETRY_SECONDS: '1',
  })
  url = `http://${machine.address}:${port}`
  hostDir = await newDataDir()
})

afterAll(async () => {
  await host?.interrupt()
  await server?.interrupt()
  await machine?.remove()
  for (const dir of [hostDir, server?.dataDir]) if (dir) await removeDataDir(dir)
})

/** What script/host would install from packages. */
const installMicrovm = async (): Promise<void> => {
  await mkdir(join(hostDir, 'host/bin'), { recursive: true })
  const copy = (from: string, to: string) =>
    promisify(execFile)('cp', ['-a', from, join(hostDir, 'host', to)])
  await copy(microvm!, 'microvm')
  for (const ending of ['', '.json']) await copy(`${guestAgent}${ending}`, `bin/guest-agent${ending}`)
}

const patiently = { timeout: 200_000, interval: 200 }
const asking = (runtime: RuntimeName) => ({ headers: { 'x-dock-runtime': runtime } })
const create = (runtime: RuntimeName, over: object = {}): Promise<Dock> =>
  server.client.call('createDock', {
    body: { workspaceId: server.admin.workspaceId, cpus: 1, memoryMiB: 512, diskGiB: 2, ...over },
    ...asking(runtime),
  })
const stop = (id: string) => server.client.call('stopDock', { params: { id }, body: {} })
const resume = async (id: string): Promise<Dock> => {
  await server.client.call('resumeDock', { params: { id }, body: {} })
  return untilState(server, id, ['ready'], 120_000)
}
const branch = (id: string, runtime?: RuntimeName): Promise<Dock> =>
  server.client.call('branchDock', { params: { id }, body: {}, ...(runtime && asking(runtime)) })
const said = async (message: string, id = ''): Promise<boolean> => {
  const log = await readFile(join(server.dataDir, 'logs/control-plane.log'), 'utf8')
  return log.split('\n').some((line) => line.includes(message) && line.includes(id))
}
const second = async () =>
  (await server.client.call('listHosts', {})).find(({ runtime }) => runtime === 'microvm')
/** A guest has the kernel of its own release; the sentry calls itself 4.4. */
const kernelOf = (id: string): Promise<string> => run(server, id, 'uname -r')
const kernels = { gvisor: /^4\.4\./, microvm: /cloud/ }

const stopped = {} as Record<RuntimeName, string>

describe.skipIf(!microvm)('a fleet with a host of each runtime', () => {
  it('says that no host has the runtime until one joins, and that it lacks the image until it has it', async () => {
    await expect(create('microvm')).rejects.toMatchObject({
      ...{ code: 'no_host_capacity', status: 503 },
      message: expect.stringContaining('No host of runtime microvm is online, only of gvisor.'),
    })
    await installMicrovm()
    host = await machine.joinAsHost(hostDir, url, await joinToken(server.dataDir), emulated)
    await expect.poll(async () => (await second())?.state, patiently).toBe('online')
    // Until the image arrives. This request may also be the first that finds it.
    const early = await create('microvm').catch((error: Error & { code: string }) => error)
    if (early instanceof Error)
      expect(early).toMatchObject({
        code: 'image_unavailable',
        message: expect.stringContaining('No online host of runtime microvm has the image'),
      })
    await expect.poll(() => said('image delivered'), patiently).toBe(true)
  })

  it('tells the operator that the machines are emulated: in both logs and on the page of the host', async () => {
    const inSession = await signIn(server.admin)
    const { id } = (await second())!
    expect(await server.client.call('readHostVersions', { params: { id } })).toMatchObject({
      isEmulated: true,
    })
    expect(await said('microVMs are EMULATED on this host', id)).toBe(true)
    expect(await readFile(join(hostDir, 'agent.log'), 'utf8')).toContain('EMULATED')
    expect(await inSession('GET', '/api/dashboard/largest-dock')).toMatchObject({
      runtimes: ['gvisor', 'microvm'],
    })
  })

  it.each(['microvm', 'gvisor'] as const)(
    'keeps a Dock of runtime %s on it: create, exec, stop, resume, branch, Template, new Dock',
    async (runtime) => {
      const other = runtime === 'gvisor' ? 'microvm' : 'gvisor'
      const dock = await create(runtime)
      expect(dock.runtime).toBe(runtime)
      expect(await kernelOf(dock.id)).toMatch(kernels[runtime])
      await run(server, dock.id, 'head -c 3000000 /dev/urandom > data && sync')
      const data = await run(server, dock.id, 'sha256sum data')
      await stop(dock.id)
      expect(await server.client.call('readLatestSnapshot', { params: { id: dock.id } })).toMatchObject({
        runtime,
      })
      expect(await resume(dock.id)).toMatchObject({ runtime, hostId: dock.hostId })
      expect(await run(server, dock.id, 'sha256sum data')).toBe(data)

      const refused = {
        ...{ code: 'validation_error', status: 400 },
        message: expect.stringContaining(`made under ${runtime} and does not boot under ${other}`),
      }
      await expect(branch(dock.id, other)).rejects.toMatchObject(refused)
      const copy = await branch(dock.id)
      expect(copy).toMatchObject({ runtime, hostId: dock.hostId })
      expect(await run(server, copy.id, 'sha256sum data')).toBe(data)
      await stop(copy.id)

      await server.client.call('createTemplate', { body: { dockId: dock.id, name: `of-${runtime}` } })
      const from = { from: `of-${runtime}` }
      await expect(create(other, from)).rejects.toMatchObject(refused)
      const made = await createDock(server, { memoryMiB: 512, ...from } as object)
      expect(made).toMatchObject({ runtime, hostId: dock.hostId })
      expect(await run(server, made.id, 'sha256sum data')).toBe(data)
      for (const { id } of [dock, made]) await stop(id)
      stopped[runtime] = dock.id
    },
  )

  it('boots a copied disk of a microVM on no host of gVisor, and brings it to none', async () => {
    const { id } = (await server.client.call('readLatestSnapshot', { params: { id: stopped.microvm } }))!
    await expect.poll(() => said('Snapshot copied', id), patiently).toBe(true)
    await host?.interrupt()
    host = undefined
    await expect.poll(async () => (await second())?.state, patiently).toBe('offline')
    const refused = {
      ...{ code: 'base_image_unavailable', status: 503 },
      message: expect.stringContaining('No host of runtime microvm is online, only of gvisor.'),
    }
    await expect(resume(stopped.microvm)).rejects.toMatchObject(refused)
    await expect(branch(stopped.microvm)).rejects.toMatchObject(refused)
    await expect(createDock(server, { from: 'of-microvm' } as object)).rejects.toMatchObject(refused)
    const pool = join('/proc', String(await agentOf(server.dataDir)), 'root', server.dataDir, 'host/pool')
    await expect(access(join(pool, 'captures', id))).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await resume(stopped.gvisor)).toMatchObject({ runtime: 'gvisor' })
  })

  it('has a host that refuses to start under another runtime than that of its disks', async () => {
    host = await machine.joinAsHost(hostDir, url, undefined, { DOCK_RUNTIME: 'gvisor' })
    const { code, output } = await host.ended
    host = undefined
    expect(code).not.toBe(0)
    expect(output).toContain('Start it with DOCK_RUNTIME=microvm')
    host = await machine.joinAsHost(hostDir, url, undefined, emulated)
    await expect.poll(async () => (await second())?.state, patiently).toBe('online')
    expect(await resume(stopped.microvm)).toMatchObject({ runtime: 'microvm' })
    expect(await kernelOf(stopped.microvm)).toMatch(kernels.microvm)
  })
})
