/**
 * Measures processes with streams on a real sandbox, through a host's link between two processes: bytes in both
 * directions, echo, and the start of a process beside an exec. Run as root, with DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS:
 * `node bench/process-streams.ts`.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFleetGateway } from '@dock/control-plane/src/gateways/fleet/fleet-gateway.ts'
import type { ProcessRequest } from '@dock/control-plane/src/modules/hosts/index.ts'
import { createLogger, newUuid, Precedence, runCommand, systemClock } from '@dock/foundation'
import { pipeProcess } from '@dock/host-agent/src/sandboxes/processes/pipe-process.ts'
import { acceptLink, dialBackPath, dialLink, openProcess, openProcessBytesMax } from '@dock/host-protocol'
import { createGvisorDriver } from '@dock/runtime-gvisor'
import { WebSocketServer } from 'ws'

const mebibyte = 2 ** 20
const megabytes = Number(process.env.BENCH_MIB ?? 256)
const rounds = 200
const logger = createLogger('bench')
logger.level = 'silent'
const user = { uid: 1000, gid: 1000, cwd: '/tmp', env: { PATH: '/usr/bin:/bin' } }

/** Hides net/core from runsc in a mount namespace of its own, as the agent's launcher does. */
const launcher = (path: string): string => `#!/bin/bash
exec unshare -m --propagation slave bash -c 'view=$(mktemp -d); mount -t tmpfs none "$view"
mkdir -p "$view"/{vm,kernel,fs,net/core}; for part in vm kernel fs; do mount --bind /proc/sys/$part "$view"/$part; done
mount --rbind "$view" /proc/sys; umount -l "$view"; rmdir "$view"; exec ${path} "$@"' runsc "$@"
`

/** The agent's process: one sandbox, whose processes it serves on the link. */
const serveSandbox = async (url: string, folder: string): Promise<void> => {
  const netns = `dockb${process.pid}`
  const rootPath = join(folder, 'rootfs')
  await runCommand('cp', ['-a', process.env.DOCK_TEST_ROOTFS ?? '', rootPath])
  await runCommand('ip', ['netns', 'add', netns])
  const runscPath = join(folder, 'runsc')
  writeFileSync(runscPath, launcher(process.env.DOCK_TEST_RUNSC ?? ''), { mode: 0o700 })
  const driver = createGvisorDriver({
    ...{ runscPath, logger },
    ...{ rootDir: join(folder, 'root'), stateDir: join(folder, 'state') },
  })
  const handle = await driver.start({
    ...{
      dockId: newUuid(),
      generation: 1,
      hostname: 'bench',
      cpus: 2,
      memoryMiB: 512,
      disk: { mount: rootPath },
    },
    ...{ netnsPath: `/run/netns/${netns}`, nameserver: '192.0.2.1' },
  })
  process.on('message', async (message) => {
    if (message === 'cpu') return void process.send?.(process.cpuUsage())
    await driver.destroy(handle)
    await runCommand('ip', ['netns', 'delete', netns])
    process.exit()
  })
  const precedence = new Precedence()
  const exec = async () => {
    const limits = { timeoutMs: 10_000, outputLimitBytes: 1000 }
    return driver.exec(handle, { argv: ['/bin/true'], ...user, ...limits })
  }
  await exec()
  await dialLink({
    ...{ url, credential: 'x', hostId: 'x', session: 'x', channel: 'bulk', logger },
    signal: new AbortController().signal,
    handler: async () => {
      const { exitCode, durationMs, timedOut, truncated } = await exec()
      return Response.json({ exitCode, stdout: '', stderr: '', durationMs, timedOut, truncated })
    },
    connect: async (connection) => {
      connection.beginDialBack()
      const message = JSON.parse(String(await connection.readMessage(openProcessBytesMax)))
      const { argv = [], pty } = openProcess.parse(message)
      const opened = await driver.openProcess(handle, { argv, ...user, ...(pty ? { pty } : {}) })
      const ended = opened.exited.then(
        ({ exitCode, signal }) => ({ exitCode, signal }),
        () => ({ exitCode: null, signal: null }),
      )
      const dockProcess = { opened, ended, lastLine: () => null, hangUp: async () => undefined }
      pipeProcess(dockProcess, await connection.acceptByDialBack(), precedence)
    },
  })
}

const quantile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(part * (values.length - 1))] ?? 0

const repeated = async (work: () => Promise<unknown>): Promise<string> => {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const begin = performance.now()
    await work()
    times.push(performance.now() - begin)
  }
  return `p50 ${quantile(times, 0.5).toFixed(2)} ms, p95 ${quantile(times, 0.95).toFixed(2)} ms`
}

const measure = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'dock-bench-'))
  const gateway = createFleetGateway(systemClock, () => 0)
  const linked = Promise.withResolvers<void>()
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  const server = createServer().on('upgrade', (request, socket, head) => {
    if (request.url === dialBackPath) return gateway.dialBacks.upgrade(request, socket, head)
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const link = acceptLink(webSocket)
      for (const channel of ['bulk', 'control'] as const) gateway.attach('host', channel, link)
      linked.resolve()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const agent = fork(import.meta.filename, ['--agent', `http://127.0.0.1:${port}`, folder])
  agent.once('exit', () => linked.reject(new Error('the agent ended')))
  await linked.promise
  const open = (argv: string[], more: Partial<ProcessRequest> = {}) =>
    gateway.openProcess({ hostId: 'host', dockId: 'dock' }, { generation: 1, argv, ...more })
  const report = (what: string, figure: string): void => console.log(`${what.padEnd(28)} ${figure}`)

  const askAgent = async (): Promise<NodeJS.CpuUsage> => {
    const answer = once(agent, 'message')
    agent.send('cpu')
    return (await answer)[0]
  }
  /** Returns a function that reports the rate since now, and bytes per second of processor time. */
  const startMeasuring = async (): Promise<() => Promise<string>> => {
    const agentBefore = await askAgent()
    const before = process.cpuUsage()
    const begin = performance.now()
    return async () => {
      const seconds = (performance.now() - begin) / 1000
      const own = process.cpuUsage(before)
      const agents = await askAgent()
      const perSecond = (user: number, system: number): number =>
        Math.round(megabytes / ((user + system) / 1e6))
      const ofAgent = perSecond(agents.user - agentBefore.user, agents.system - agentBefore.system)
      return `${Math.round(megabytes / seconds)} MB/s; per CPU second ${perSecond(own.user, own.system)} MB in the control plane, ${ofAgent} MB in the agent`
    }
  }

  let rate = await startMeasuring()
  const down = await open(['head', '-c', String(megabytes * mebibyte), '/dev/zero'])
  down.stderr.resume()
  let received = 0
  for await (const chunk of down.stdout) received += (chunk as Buffer).length
  report('from a program', `${await rate()} (${received / mebibyte} MiB)`)

  const up = await open(['cat'])
  up.stdout.resume()
  up.stderr.resume()
  up.stdin.end()
  await up.exited
  const sink = await open(['/bin/sh', '-c', 'cat >/dev/null'])
  sink.stdout.resume()
  sink.stderr.resume()
  rate = await startMeasuring()
  const piece = Buffer.alloc(64 * 1024)
  for (let sent = 0; sent < (megabytes * mebibyte) / piece.length; sent += 1)
    if (!sink.stdin.write(piece)) await once(sink.stdin, 'drain')
  sink.stdin.end()
  await sink.exited
  report('to a program', await rate())

  for (const pty of [undefined, { cols: 80, rows: 24 }]) {
    const echo = await open(['cat'], pty ? { pty } : {})
    echo.stderr.resume()
    const type = async () => {
      const heard = once(echo.stdout, 'data')
      echo.stdin.write('x')
      await heard
    }
    await type()
    report(pty ? 'echo of a terminal' : 'echo of a pipe', await repeated(type))
    echo.hangUp()
  }
  const body = { generation: 1, command: '', cwd: '/', env: {}, timeoutMs: 10_000, outputLimitBytes: 1 }
  report('exec of true', await repeated(() => gateway.exec({ hostId: 'host', dockId: 'dock' }, body)))
  const run = async () => {
    const opened = await open(['/bin/true'])
    opened.stdout.resume()
    opened.stderr.resume()
    await opened.exited
  }
  report('process of true', await repeated(run))
  agent.send('over')
  await once(agent, 'exit')
  gateway.close()
  server.close()
  server.closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
}

const [role, url, folder] = process.argv.slice(2)
if (role === '--agent') await serveSandbox(url ?? '', folder ?? '')
else await measure()
