/**
 * script/bench ports: measures small requests through a hosted port, its throughput compared with the link alone, and
 * the effect of a download at full speed on commands and heartbeats.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@dock/testkit/src/free-port.ts'
import autocannon from 'autocannon'
import { createDock, run } from '../tests/e2e/support/dock.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../tests/e2e/support/server.ts'
import { download } from './download.ts'
import { type Figure, percentile, sample } from './figures.ts'
import { linkThroughput } from './link-throughput.ts'
import { longestSilenceMs } from './parts/longest-silence.ts'

const seconds = Number(process.env.DOCK_BENCH_SECONDS ?? '8')
const megabytes = Number(process.env.DOCK_BENCH_MEGABYTES ?? '512')
const connections = 32
const port = 8000
const wanted = { requestsPerSecond: 1500, shareOfLink: 0.6, execP95AddedMs: 20, heartbeatMs: 3_000 + 1_000 }

const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const verdict = (holds: boolean): string => (holds ? 'holds' : 'MISSED')

/** A server in one process with keep-alive: a constant response, or N megabytes at /megabytes/N. */
const program = String.raw`
use strict; use Socket; use Errno qw(EAGAIN EINTR);
socket(my $door, PF_INET, SOCK_STREAM, 0) or die; bind($door, pack_sockaddr_in(${port}, INADDR_ANY)) or die; listen($door, 128);
$SIG{PIPE} = $SIG{CHLD} = 'IGNORE';
my $answer = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 13\r\n\r\nhello, world\n";
my (%open, $reads); vec($reads, fileno $door, 1) = 1;
sub leave { my ($id) = @_; vec($reads, $id, 1) = 0; close delete $open{$id} }
for (;;) {
  select(my $ready = $reads, undef, undef, undef) > 0 or next;
  if (vec($ready, fileno $door, 1) && accept(my $peer, $door)) { setsockopt($peer, 6, 1, 1); $open{fileno $peer} = $peer; vec($reads, fileno $peer, 1) = 1 }
  for my $id (keys %open) { next unless vec($ready, $id, 1);
    my $peer = $open{$id};
    my $text; unless (sysread $peer, $text, 65536) { leave($id); next }
    if ($text =~ m{^GET /megabytes/(\d+)}) {
      if (!fork) { my $left = $1; my $block = 'x' x 1048576;
        syswrite $peer, "HTTP/1.1 200 OK\r\ncontent-length: " . $left * 1048576 . "\r\n\r\n";
        while ($left-- > 0) { my $at = 0; while ($at < 1048576) { my $n = syswrite $peer, $block, 1048576 - $at, $at; exit unless $n; $at += $n } }
        exit }
      leave($id); next }
    syswrite $peer, $answer for 1 .. (() = $text =~ /\r\n\r\n/g) } }
`

const startProgram = async (server: Server, id: string): Promise<string> => {
  const text = Buffer.from(program).toString('base64')
  await run(
    server,
    id,
    `echo ${text} | base64 -d >server.pl && (setsid perl server.pl >server.log 2>&1 &)
     for _ in {1..100}; do (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && exit; sleep 0.1; done; cat server.log; exit 1`,
  )
  return (await server.client.call('exposePort', { params: { id }, body: { port } })).url ?? ''
}

const smallRequests = async (url: string): Promise<void> => {
  const { host, port: listening } = new URL(url)
  const options = { url: `http://127.0.0.1:${listening}/`, headers: { host }, connections }
  await autocannon({ ...options, duration: 2 })
  const { requests, latency, non2xx, errors } = await autocannon({ ...options, duration: seconds })
  print(
    `small requests, ${connections} connections    ${requests.average.toFixed(0)}/s  p50 ${latency.p50} ms  p99 ${latency.p99} ms  refused ${non2xx + errors}   wanted ${wanted.requestsPerSecond}: ${verdict(requests.average >= wanted.requestsPerSecond && non2xx + errors === 0)}`,
  )
}

const throughput = async (url: string): Promise<void> => {
  const link = [await linkThroughput(megabytes), await linkThroughput(megabytes)]
  const ours = [await download(url, megabytes), await download(url, megabytes)]
  const [best, alone] = [Math.max(...ours), Math.max(...link)]
  print(
    `download                           ${best.toFixed(0)} MiB/s   the link alone ${alone.toFixed(0)} MiB/s   share ${(best / alone).toFixed(2)}, wanted ${wanted.shareOfLink}: ${verdict(best / alone >= wanted.shareOfLink)}`,
  )
}

const disturbance = async (server: Server, url: string): Promise<void> => {
  // Each measurement uses a new Dock, because of the limit of 120 commands per minute and Dock.
  const exec = async (name: string): Promise<Figure> => {
    const { id } = await createDock(server)
    return sample(name, 80, async () => {
      await run(server, id, 'true')
    })
  }
  const quiet = await exec('quiet')
  let isOver = false
  const downloading = (async () => {
    while (!isOver) await download(url, megabytes)
  })()
  const measured = exec('busy').finally(async () => {
    await delay(9_000)
    isOver = true
  })
  const silence = await longestSilenceMs(
    server,
    measured.then(() => downloading),
  )
  const busy = await measured
  await downloading
  const [before, after] = [percentile(quiet, 0.95), percentile(busy, 0.95)]
  print(
    `exec p95 during a full download    ${after.toFixed(1)} ms, without ${before.toFixed(1)} ms   added ${(after - before).toFixed(1)}, wanted ${wanted.execP95AddedMs}: ${verdict(after - before <= wanted.execP95AddedMs)}`,
  )
  print(
    `longest time between heartbeats    ${silence} ms of 3000   wanted ${wanted.heartbeatMs}: ${verdict(silence <= wanted.heartbeatMs)}`,
  )
}

const dataDir = await newDataDir()
const server = await startServer(dataDir, await freePort(), { DOCK_WARM_POOL: '0' })
try {
  const { id } = await createDock(server, { cpus: 2 })
  const url = await startProgram(server, id)
  await smallRequests(url)
  await throughput(url)
  await disturbance(server, url)
} finally {
  await server.interrupt()
  await removeDataDir(dataDir)
}
