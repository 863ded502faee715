/** Attacks on the listener: a program in a Dock with responses that have no clear end, and one address with very many connections. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type BenchServer, withServer } from '../../../bench/parts/bench-server.ts'
import { createDock, exec } from '../../e2e/support/dock.ts'
import type { Report } from './report.ts'

/** Addresses of this namespace. The last two are neither loopback nor trusted proxies. */
const listening = '203.0.113.1'
const attacker = '203.0.113.66'
const neighbor = '203.0.113.67'
const tries = 1_500
const smuggled = 'SMUGGLED'

const responses = {
  ok: `HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhello`,
  foo: `HTTP/1.1 200 OK\\r\\nTransfer-Encoding: foo\\r\\n\\r\\nHTTP/1.1 200 OK\\r\\nContent-Length: 8\\r\\n\\r\\n${smuggled}`,
  identity: `HTTP/1.1 200 OK\\r\\nTransfer-Encoding: identity\\r\\n\\r\\nHTTP/1.1 200 OK\\r\\nContent-Length: 8\\r\\n\\r\\n${smuggled}`,
  twice: `HTTP/1.1 200 OK\\r\\nTransfer-Encoding: foo\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n8\\r\\n${smuggled}\\r\\n0\\r\\n\\r\\n`,
  old: `HTTP/1.0 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n8\\r\\n${smuggled}\\r\\n0\\r\\n\\r\\n`,
}

/** A server that sends the response that the path names. */
const program = `use strict; use IO::Socket::INET; my %said = (${Object.entries(responses)
  .map(([name, text]) => `${name} => "${text}"`)
  .join(', ')});
  my $listener = IO::Socket::INET->new(LocalPort => 3000, Listen => 16, ReuseAddr => 1) or die;
  while (my $client = $listener->accept) { my $head = ''; sysread($client, $head, 4096);
    my ($name) = $head =~ m{^GET /(\\w+)}; print $client $said{$name // 'ok'}; close $client; }`

/** Sends two requests over one connection. Returns what arrives. */
const exchange = async (port: number, host: string, name: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('error', () => undefined)
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  socket.setTimeout(2_000, () => socket.destroy())
  socket.write(`GET /${name} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  await once(socket, 'close')
  return received
}

const framing = async (server: BenchServer, report: Report): Promise<void> => {
  const dock = await createDock(server)
  await exec(server, dock.id, 'setsid perl -e "$PROGRAM" >/dev/null 2>&1 </dev/null &', {
    env: { PROGRAM: program },
  })
  const exposed = await server.client.call('exposePort', { params: { id: dock.id }, body: { port: 3000 } })
  const { host } = new URL(exposed.url ?? '')
  const { port } = server
  let control = false
  for (let n = 0; n < 50 && !control; n += 1) {
    control = (await exchange(port, host, 'ok')).endsWith('hello')
    if (!control) await delay(100)
  }
  for (const name of Object.keys(responses).filter((each) => each !== 'ok')) {
    const received = await exchange(port, host, name)
    report.attack({
      what: `a response of a Dock without a clear end (${name})`,
      control,
      holds: received.startsWith('HTTP/1.1 502 ') && !received.includes(smuggled),
      seen: received.split('\r\n', 1)[0] || 'nothing',
    })
  }
}

/** Begins requests that never end. Returns the connections that are still open after a moment. */
const holdOpen = async (port: number, localAddress: string, count: number): Promise<Socket[]> => {
  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ port, host: listening, localAddress })
    return socket.on('error', () => undefined).resume()
  })
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: x\r\n')
  await delay(3_000)
  return sockets.filter((socket) => !socket.closed && !socket.destroyed && !socket.readableEnded)
}

const statusFrom = async (port: number, localAddress: string): Promise<string> => {
  const socket = connect({ port, host: listening, localAddress }).on('error', () => undefined)
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  socket.setTimeout(5_000, () => socket.destroy())
  socket.write('GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await once(socket, 'close')
  return received.split('\r\n', 1)[0] || 'no response'
}

const manyConnections = async ({ port }: BenchServer, report: Report): Promise<void> => {
  const few = await holdOpen(port, neighbor, 200)
  const control = few.length === 200
  for (const socket of few) socket.destroy()
  const held = await holdOpen(port, attacker, tries)
  const status = await statusFrom(port, neighbor)
  report.attack({
    what: `${tries} half-sent requests of one address`,
    control,
    holds: held.length > 0 && held.length <= 1_000 && status.includes(' 200 '),
    seen: `${held.length} stay open, a neighbor gets ${status}`,
  })
  for (const socket of held) socket.destroy()
  await delay(500)
  const after = await statusFrom(port, attacker)
  report.attack({
    what: 'afterwards, the same address',
    control,
    holds: after.includes(' 200 '),
    seen: after,
  })
}

export async function attackedGates(report: Report): Promise<void> {
  for (const address of [listening, attacker, neighbor])
    execFileSync('ip', ['address', 'replace', `${address}/32`, 'dev', 'lo'])
  const settings = { DOCK_WARM_POOL: '0', DOCK_BIND: '0.0.0.0', PORTS_DOMAIN: 'docks.localhost' }
  await withServer(settings, async (server) => {
    await framing(server, report)
    await manyConnections(server, report)
  })
}
