import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { Dock } from '@dock/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createDock, run, untilState } from './support/dock.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
let dock: Dock
beforeAll(async () => {
  dock = await createDock(server, { name: freshName('ports') })
})

/** A server that sends N bytes at GET /bytes/N and the digest of the body at POST, and echoes WebSocket frames. */
const program = String.raw`
use strict; use Socket;
my ($address, $port) = @ARGV;
$SIG{CHLD} = 'IGNORE';
socket(my $door, PF_INET, SOCK_STREAM, 0) or die; setsockopt($door, SOL_SOCKET, SO_REUSEADDR, 1);
bind($door, pack_sockaddr_in($port, inet_aton($address))) or die; listen($door, 128) or die;
while (accept(my $peer, $door)) { if (fork) { close $peer; next } talk($peer); exit }
sub talk { my ($peer) = @_; binmode $peer; my $old = select $peer; $| = 1; select $old;
  while (defined(my $line = <$peer>)) {
    my ($method, $path) = split ' ', $line; my %head;
    while (defined($line = <$peer>) && $line =~ /^([^:]+):\s*(.*?)\r\n/) { $head{lc $1} = $2 }
    return echo($peer, $head{'sec-websocket-key'}) if lc($head{upgrade} // '') eq 'websocket';
    if ($method eq 'POST') {
      open my $file, '>', "/tmp/$$"; my $left = $head{'content-length'};
      while ($left > 0) { my $n = read($peer, my $data, $left > 65536 ? 65536 : $left); $n or die; $left -= $n; print $file $data }
      close $file; my ($digest) = split ' ', qx(sha256sum /tmp/$$); unlink "/tmp/$$"; answer($peer, $digest) }
    elsif ($path =~ m{^/bytes/(\d+)}) {
      my $left = $1; print $peer "HTTP/1.1 200 OK\r\ncontent-length: $left\r\n\r\n";
      while ($left > 0) { my $n = $left > 65536 ? 65536 : $left; print $peer 'x' x $n; $left -= $n } }
    else { answer($peer, "hello from $address") }
  } }
sub answer { my ($peer, $body) = @_; print $peer "HTTP/1.1 200 OK\r\ncontent-length: ", length $body, "\r\n\r\n$body" }
sub echo { my ($peer, $key) = @_;
  my ($sha) = split ' ', qx(printf %s '$key'258EAFA5-E914-47DA-95CA-C5AB0DC85B11 | sha1sum);
  my $accept = qx(printf %s $sha | perl -e 'print pack "H*", <STDIN>' | base64); chomp $accept;
  print $peer "HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: $accept\r\n\r\n";
  while (read($peer, my $head, 2) == 2) {
    my ($kind, $length) = unpack 'CC', $head; $length &= 127; return if ($kind & 15) == 8;
    read($peer, my $mask, 4); read($peer, my $data, $length);
    print $peer pack('CC', $kind, $length), $data ^ substr($mask x ($length / 4 + 1), 0, $length) } }
`
const serve = async (address: string, port: number): Promise<void> => {
  const text = Buffer.from(program).toString('base64')
  await run(
    server,
    dock.id,
    `echo ${text} | base64 -d >server.pl && (setsid perl server.pl ${address} ${port} >/dev/null 2>&1 &)
     for _ in {1..300}; do (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && exit; sleep 0.1; done; exit 1`,
  )
}
const expose = async (port: number): Promise<string> =>
  (await server.client.call('exposePort', { params: { id: dock.id }, body: { port } })).url ?? ''

const ask = (url: string, path: string, method = 'GET', body?: Buffer) => {
  const { port, host } = new URL(url)
  const headers = { host, ...(body ? { 'content-length': String(body.length) } : {}) }
  const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent: false })
  outgoing.end(body)
  return once(outgoing, 'response') as Promise<[IncomingMessage]>
}
const get = async (url: string, path = '/'): Promise<[number, string]> => {
  const [response] = await ask(url, path)
  return [response.statusCode ?? 0, Buffer.concat(await response.toArray()).toString()]
}

describe.each([
  ['0.0.0.0', 8000],
  ['127.0.0.1', 8001],
])('a server on %s', (address, port) => {
  let url: string
  beforeAll(async () => {
    await serve(address, port)
    url = await expose(port)
  })

  it('responds at its public address, with large bodies in both directions', async () => {
    expect(await get(url)).toEqual([200, `hello from ${address}`])
    const [response] = await ask(url, `/bytes/${64 * 1024 * 1024}`)
    let received = 0
    for await (const chunk of response) received += (chunk as Buffer).length
    expect(received).toBe(64 * 1024 * 1024)
    const body = Buffer.alloc(16 * 1024 * 1024, 'abc')
    const [counted] = await ask(url, '/', 'POST', body)
    const digest = Buffer.concat(await counted.toArray()).toString()
    expect(digest).toBe(createHash('sha256').update(body).digest('hex'))
  })

  it('serves many concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => get(url)))
    expect(answers.filter(([status]) => status !== 200)).toEqual([])
  })

  it('exchanges messages over a WebSocket', async () => {
    const { host } = new URL(url)
    const socket = new WebSocket(`ws://127.0.0.1:${new URL(url).port}/`, { headers: { host } })
    await once(socket, 'open')
    socket.send('there and back')
    expect(String((await once(socket, 'message'))[0])).toBe('there and back')
    socket.terminate()
  })
})

describe('a port', () => {
  it('without a server gets a page that says so, and does not exist after it is unexposed', async () => {
    const url = await expose(9)
    expect(await get(url)).toEqual([502, expect.stringContaining('Nothing is listening')])
    await server.client.call('unexposePort', { params: { id: dock.id, port: 9 } })
    await expect.poll(async () => (await get(url))[0], { timeout: 20_000 }).toBe(404)
  })

  it('of a stopped Dock gets a page that says so, and works again when Dock and server are back', async () => {
    const url = await expose(8000)
    await server.client.call('stopDock', { params: { id: dock.id }, body: {} })
    await expect.poll(async () => (await get(url))[1], { timeout: 20_000 }).toContain('The Dock is stopped')
    await server.client.call('resumeDock', { params: { id: dock.id }, body: {} })
    await untilState(server, dock.id, ['ready'])
    await expect.poll(async () => (await get(url))[1], { timeout: 20_000 }).toContain('Nothing is listening')
    await serve('0.0.0.0', 8000)
    await expect.poll(() => get(url), { timeout: 20_000 }).toEqual([200, 'hello from 0.0.0.0'])
  })
})
