/** Processes over a real link, between the fleet gateway and an agent whose processes are programs of this machine. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { createLogger, newUuid, systemClock } from '@dock/foundation'
import { acceptLink, dialBackPath, dialLink } from '@dock/host-protocol'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { HostRefused, HostUnreachable, type ProcessRequest } from '../../modules/hosts/index.ts'
import { createFleetGateway, type FleetGateway } from './fleet-gateway.ts'

const mebibyte = 2 ** 20
const patiently = { timeout: 60_000 }
const logger = createLogger('test')
logger.level = 'silent'

let host: Awaited<ReturnType<typeof createMemoryHost>>
let gateway: FleetGateway
let server: Server
let stop: AbortController
let cut: () => void
let dockId: string
/** Connections that the agent dialled for processes, at the control plane. */
let dialled: Set<Socket>

const open = (request: ProcessRequest) =>
  gateway.openProcess({ hostId: 'host', dockId }, { generation: 1, cwd: '/tmp', ...request })
const settled = async (value: () => number): Promise<number> => {
  let before = -1
  while (before !== value()) {
    before = value()
    await delay(300)
  }
  return before
}
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe.each([
  { by: 'a connection of its own', isRefused: false },
  { by: 'the link', isRefused: true },
])('a process over $by', ({ isRefused }) => {
  beforeEach(async () => {
    host = await createMemoryHost()
    dockId = newUuid()
    dialled = new Set()
    await host.agent.docks.getForCommand(dockId).start(startCommand())
    gateway = createFleetGateway(systemClock, () => 0)
    stop = new AbortController()
    const linked = Promise.withResolvers<void>()
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
    server = createServer((_, response) => response.writeHead(404).end())
    server.on('upgrade', (request, raw: Socket, head) => {
      if (request.url === dialBackPath) {
        if (isRefused) return void raw.end('HTTP/1.1 400 Bad Request\r\n\r\n')
        raw.once('close', () => dialled.delete(raw))
        dialled.add(raw)
        return gateway.dialBacks.upgrade(request, raw, head)
      }
      sockets.handleUpgrade(request, raw, head, (socket) => {
        cut = () => raw.destroy()
        gateway.attach('host', 'bulk', acceptLink(socket))
        linked.resolve()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    void dialLink({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      credential: 'x',
      hostId: 'host',
      session: 'x',
      channel: 'bulk',
      logger,
      signal: stop.signal,
      handler: host.agent.app.fetch,
      connect: host.agent.connect,
    })
    await linked.promise
  })
  afterEach(async () => {
    stop.abort()
    gateway.close()
    server.closeAllConnections()
    server.close()
    host.driver.kill(dockId)
    await host.remove()
  })

  it('carries input, both outputs and the end', async () => {
    const opened = await open({ command: 'echo "$WORD" >&2; cat; exit 3', env: { WORD: 'word' } })
    opened.stdin.end('input')
    expect(await Promise.all([text(opened.stdout), text(opened.stderr)])).toEqual(['input', 'word\n'])
    expect(await opened.exited).toEqual({ exitCode: 3, signal: null })
  })

  it('waits for those who hold its outputs, if asked', async () => {
    const command = '(sleep 1; seq 100000) & exit 3'
    const [waiting, other] = await Promise.all([open({ command, waitsForOutputs: true }), open({ command })])
    for (const { stderr } of [waiting, other]) stderr.resume()
    const [numbers, nothing] = await Promise.all([text(waiting.stdout), text(other.stdout)])
    expect([numbers.length, nothing]).toEqual([588_895, ''])
    expect(await waiting.exited).toEqual({ exitCode: 3, signal: null })
  })

  it('is refused before anything runs, with the code of the host', async () => {
    await expect(open({ argv: ['/no/such'] })).rejects.toMatchObject({ code: 'exec_refused' })
    await expect(open({ argv: ['true'], cwd: '/no/such' })).rejects.toThrow(HostRefused)
    const unknown = gateway.openProcess(
      { hostId: 'host', dockId: newUuid() },
      { generation: 1, argv: ['true'] },
    )
    await expect(unknown).rejects.toMatchObject({ code: 'not_running' })
  })

  it('gets SIGPIPE when its output was closed, and its other output goes on', {
    timeout: 20_000,
  }, async () => {
    const opened = await open({ command: 'yes; echo "ended with $?" >&2' })
    const errors = text(opened.stderr)
    opened.closeStdout()
    expect(await errors).toContain('ended with 141\n')
    expect(await opened.exited).toEqual({ exitCode: 0, signal: null })
  })

  it('stays on the link if it is the shell of a person', async () => {
    const shell = await open({ pty: { cols: 80, rows: 24 } })
    shell.stderr.resume()
    expect(dialled.size).toBe(0)
    shell.hangUp()
    const program = await open({ command: 'cat' })
    expect(dialled.size).toBe(isRefused ? 0 : 1)
    program.hangUp()
  })

  it('is signalled and resized', async () => {
    const opened = await open({
      command: 'trap "stty size" WINCH; echo ready; while :; do sleep 0.05; done',
      pty: { cols: 90, rows: 30 },
    })
    opened.stderr.resume()
    let seen = ''
    opened.stdout.on('data', (chunk: Buffer) => {
      seen += chunk
    })
    await expect.poll(() => seen, patiently).toContain('ready')
    await opened.resize({ cols: 132, rows: 50 })
    await expect.poll(() => seen, patiently).toContain('50 132')
    await opened.signal('TERM')
    expect(await opened.exited).toEqual({ exitCode: null, signal: 'TERM' })
  })

  it('holds its output back while nobody reads, in flat memory, and loses no byte', async () => {
    const opened = await open({ command: 'head -c 67108864 /dev/zero; echo over >&2' })
    const errors = text(opened.stderr)
    const before = process.memoryUsage().arrayBuffers
    expect(await settled(() => opened.stdout.readableLength)).toBeLessThan(mebibyte)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * mebibyte)
    let bytes = 0
    opened.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    expect(await opened.exited).toEqual({ exitCode: 0, signal: null })
    expect([bytes, await errors]).toEqual([64 * mebibyte, 'over\n'])
  })

  it('holds its writer back while the program does not read, and loses no byte', async () => {
    const opened = await open({
      command: 'trap "wc -c; exit" USR1; echo ready; while :; do sleep 0.05 </dev/null; done',
    })
    opened.stderr.resume()
    await once(opened.stdout, 'data')
    let taken = 0
    for (let sent = 0; sent < 64; sent += 1)
      opened.stdin.write(Buffer.alloc(mebibyte), () => {
        taken += 1
      })
    opened.stdin.end()
    expect(await settled(() => taken)).toBeLessThan(8)
    await opened.signal('USR1')
    expect(Number(await text(opened.stdout))).toBe(64 * mebibyte)
    await opened.exited
  })

  it('is hung up when it is left, and fails when the link breaks', async () => {
    const command = 'sleep 60 & echo $!; wait'
    const [left, lost] = [await open({ command }), await open({ command })]
    const pids = await Promise.all(
      [left, lost].map(async ({ stdout }) => Number(String((await once(stdout, 'data'))[0]))),
    )
    left.hangUp()
    await expect(left.exited).rejects.toThrow(HostUnreachable)
    await expect.poll(() => isAlive(pids[0]!), patiently).toBe(false)
    expect(isAlive(pids[1]!)).toBe(true)
    cut()
    await expect(lost.exited).rejects.toThrow(HostUnreachable)
    expect(lost.stdout.errored).toBeInstanceOf(HostUnreachable)
    await expect.poll(() => isAlive(pids[1]!), patiently).toBe(false)
  })

  it('leaves no connection behind, however it ends', async () => {
    const opened = await open({ argv: ['cat'] })
    expect(dialled.size).toBe(isRefused ? 0 : 1)
    opened.stdin.end()
    opened.stdout.resume()
    opened.stderr.resume()
    await opened.exited
    await expect(open({ argv: ['/no/such'] })).rejects.toThrow(HostRefused)
    await expect.poll(() => dialled.size, patiently).toBe(0)
  })
})
