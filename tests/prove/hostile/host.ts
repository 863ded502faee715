/** Attacks by a second host with a valid credential. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { newUuid } from '@dock/foundation'
import type { HostFacts } from '@dock/host-protocol'
import { joinHostileHost } from '@dock/testkit'
import { type BenchServer, withServer } from '../../../bench/parts/bench-server.ts'
import { processOf } from '../../crash/processes.ts'
import { createDock, run } from '../../e2e/support/dock.ts'
import { joinToken } from '../../e2e/support/second-machine.ts'
import { untilTrue } from './attackers.ts'
import type { Report } from './report.ts'

const execute = promisify(execFile)
const checkout = new URL('../../..', import.meta.url).pathname
const mebibyte = 2 ** 20
const grownMiBMax = 256
const pressure = { memAvailableBytes: 2 ** 34, diskFreeBytes: 2 ** 36 }
const chunk = '0'.repeat(64)

const facts: HostFacts = {
  ...{ runtime: 'gvisor', cpuFamily: 'x86_64', kernel: 'linux', kernelRelease: '6.1', bootId: 'hostile' },
  // Too small for any Dock, so that nothing is placed on it.
  ...{ vcpuTotal: 1, memTotalBytes: 2 ** 20, diskTotalBytes: 2 ** 20, maxDocks: 1 },
  images: ['debian-13'],
  imageVersions: { 'debian-13': 'built:evil' },
}
const line = (event: object): string => `${JSON.stringify(event)}\n`
const inventory = (over: object = {}): string =>
  line({ type: 'inventory', facts, pressure, runtimes: [], pool: [], captures: [], ...over })

/** Returns a function that returns the process's peak memory in MiB since its last call. */
const createPeak = (pid: number) => async (): Promise<number> => {
  const peak = Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  await execute('sh', ['-c', `echo 5 >/proc/${pid}/clear_refs`])
  return peak
}

const logHas = async (server: BenchServer, text: string): Promise<boolean> =>
  (await readFile(`${server.dataDir}/logs/control-plane.log`, 'utf8')).includes(text)

export function hostileHost(report: Report): Promise<void> {
  return withServer({ DOCK_WARM_POOL: '0' }, async (server) => {
    const victim = await createDock(server, { name: 'victim' })
    await run(server, victim.id, 'sleep 1000 >/dev/null 2>&1 & echo $! >witness')
    const asked: string[] = []
    let listed = 0
    const host = await joinHostileHost({
      url: server.admin.baseUrl,
      joinToken: await joinToken(server.dataDir),
      facts,
      answer: (path) => {
        asked.push(path)
        if (!path.endsWith('/chunk-names')) return null
        const stream = new ReadableStream({
          start: (controller) => controller.enqueue(Buffer.from(line({ diskBytes: 2 ** 30 }))),
          pull: (controller) => {
            for (let at = 0; at < 100; at++)
              controller.enqueue(Buffer.from(line({ index: listed++, name: chunk })))
          },
        })
        return new Response(stream)
      },
    })
    try {
      await host.waitUntilLinked()
      const isOnline = async () =>
        (await server.client.call('listHosts', {})).some(
          (each) => each.id === host.hostId && each.state === 'online',
        )
      await host.send(inventory())
      const online = (await untilTrue(isOnline, 10_000)) !== null
      const peak = createPeak((await processOf('control-plane', server))!)

      const flood = async (piece: Uint8Array, bytes: number): Promise<number> => {
        const sessions = host.sessions()
        let sent = 0
        let isOver = false
        const over = untilTrue(async () => isOver || host.sessions() > sessions, 30_000).then(() => false)
        while (
          sent < bytes &&
          (await Promise.race([
            host.send(piece).then(
              () => true,
              () => false,
            ),
            over,
          ]))
        )
          sent += piece.length
        isOver = true
        return sent
      }
      const before = await peak()
      const sent = await flood(Buffer.alloc(mebibyte, 'x'), 1024 * mebibyte)
      const grown = (await peak()) - before
      report.attack({
        what: 'a line of 1 GB',
        control: online,
        holds: sent < 64 * mebibyte && grown < grownMiBMax,
        seen: `disconnected after ${Math.round(sent / mebibyte)} MiB, the control plane uses at most ${Math.round(grown)} MiB more`,
      })

      const entry = () => ({
        ...{ dockId: newUuid(), image: 'debian-13', cpus: 1, memoryMiB: 1024, diskGiB: 2 },
        ...{ hostname: 'evil', ip: '10.0.0.1' },
      })
      const peakBefore = await peak()
      const entries = Array.from({ length: 100_000 }, entry)
      await flood(Buffer.from(inventory({ pool: entries })), 1)
      await host.send(inventory({ pool: entries.slice(0, 5_000) })).catch(() => undefined)
      await host.send(inventory({ pool: [{ ...entry(), dockId: victim.id }] })).catch(() => undefined)
      const timed = performance.now()
      const made = await createDock(server, { name: 'after-the-warm-pool' })
      const createMs = Math.round(performance.now() - timed)
      const grownMiB = (await peak()) - peakBefore
      report.attack({
        what: 'a warm pool of 100,000, of 5,000, and one that offers the Dock of a tenant',
        control: online,
        holds: made.state === 'ready' && made.hostId === victim.hostId && grownMiB < grownMiBMax,
        seen: `a create takes ${createMs} ms, is placed on the honest host, at most ${Math.round(grownMiB)} MiB more`,
      })

      await untilTrue(() => host.send(inventory()).then(() => true), 10_000)
      const died = { type: 'dock.died', dockId: victim.id, generation: 1 }
      const runtime = { dockId: victim.id, generation: 1, state: 'dead', ended: 'died', ip: null }
      const question = { protocol: 'https', host: 'github.com', path: 'a/b' }
      await host.send(line(died))
      await host.send(inventory({ runtimes: [runtime] }))
      await host.send(
        line({ type: 'credential.asked', askId: newUuid(), dockId: victim.id, generation: 1, question }),
      )
      await host.send(line({ type: 'heartbeat', pressure, running: 0 }))
      // The host is online, so its events were processed.
      const taken = await untilTrue(
        async () =>
          (await server.client.call('listHosts', {})).some(
            (each) => each.id === host.hostId && each.state === 'online',
          ),
        10_000,
      )
      const witness = await run(server, victim.id, 'kill -0 "$(cat witness)" && echo alive')
      const dock = await server.client.call('readDock', { params: { id: victim.id } })
      report.attack({
        what: 'the death of another host’s Dock, its runtime, its git credential',
        control: taken !== null,
        holds: witness.trim() === 'alive' && dock.hostId === victim.hostId,
        seen: `the Dock’s process is ${witness.trim()}, the Dock is ${dock.state} on its host`,
      })

      const askedBefore = asked.filter((path) => path.endsWith('/chunk-names')).length
      await execute(`${checkout}script/admin`, ['builders', 'add', host.hostId], {
        env: { ...process.env, DOCK_DATA_DIR: server.dataDir },
      })
      // A third host lacks the image, so the control plane requests it from a builder.
      const third = await joinHostileHost({
        url: server.admin.baseUrl,
        joinToken: await joinToken(server.dataDir),
        facts: { ...facts, images: [], imageVersions: {} },
      })
      await third.waitUntilLinked()
      await third.send(inventory({ facts: { ...facts, images: [], imageVersions: {} } }))
      await host.send(inventory())
      const controlAsked = await untilTrue(
        async () => asked.some((path) => path.endsWith('/chunk-names')),
        30_000,
      )
      const listPeak = await peak()
      const refused = await untilTrue(
        () => logHas(server, 'the list of chunks is not in the protocol'),
        20_000,
      )
      const listGrown = (await peak()) - listPeak
      await third.close()
      report.attack({
        what: 'its own image for all hosts',
        control: controlAsked !== null,
        holds: askedBefore === 0,
        seen: 'not requested until an operator makes the host a builder',
      })
      report.attack({
        what: 'an endless list of chunks',
        control: listed > 256,
        holds: refused !== null && listGrown < grownMiBMax,
        seen: `refused, at most ${Math.round(listGrown)} MiB more`,
      })
    } finally {
      await host.close()
    }
  })
}
