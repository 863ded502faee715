/** One Dock floods the network. Measures the connections, name lookups and commands of its neighbor meanwhile. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Dock } from '@dock/contract'
import { type BenchServer, withServer } from '../../../bench/parts/bench-server.ts'
import { createDock, exec } from '../../e2e/support/dock.ts'
import { createOutside } from '../../e2e/support/outside.ts'
import { nameServer } from './own-network.ts'
import type { Report } from './report.ts'

const open = '198.51.100.77'
const silent = '198.51.100.99'
const port = 7_777
const tries = 30
const execs = 8
const bounds = { share: 0.95, connectMs: 1_000, lookupMs: 2_000, execMs: 2_000 }

/** A program that accepts connections and answers every DNS query with the same address. */
const outsideProgram = `use strict; use IO::Socket::INET; use IO::Select; $| = 1;
  my $tcp = IO::Socket::INET->new(LocalAddr => '${open}', LocalPort => ${port}, Listen => 4096, ReuseAddr => 1) or die;
  my $udp = IO::Socket::INET->new(LocalAddr => '${nameServer}', LocalPort => 53, Proto => 'udp') or die;
  print "ready\\n"; my $both = IO::Select->new($tcp, $udp);
  while (1) {
    for my $ready ($both->can_read) {
      if ($ready == $tcp) { close $tcp->accept; next }
      my $from = recv($udp, my $query, 600, 0); next if !defined $from || length $query < 17;
      send($udp, substr($query, 0, 2) . pack('n5', 0x8180, 1, 1, 0, 0) . substr($query, 12) .
        pack('nnnNnN', 0xc00c, 1, 1, 60, 4, 0xc6336401), 0, $from);
    }
  }`

const query = `sub query { pack('n6', $_[0], 0x0100, 1, 0, 0, 0) . join('', map { pack('C/a*', $_) } "n$_[0]", 'example') . pack('Cnn', 0, 1, 1) }`
const nameserverInDock = `my ($ns) = map { /^nameserver (\\S+)/ } do { open my $f, '<', '/etc/resolv.conf'; <$f> };`

/** The neighbor's program. It measures each attempt in milliseconds, or -1 if it failed. */
const measuring = `use strict; use Socket; use Time::HiRes qw(time sleep); ${nameserverInDock} ${query}
  my (@connects, @lookups);
  for my $n (1 .. ${tries}) {
    my $begin = time; my $ms = -1;
    socket(my $tcp, AF_INET, SOCK_STREAM, 0); my $done = eval { local $SIG{ALRM} = sub { die }; alarm 2;
      my $ok = connect($tcp, pack_sockaddr_in(${port}, inet_aton('${open}'))); alarm 0; $ok }; alarm 0;
    push @connects, $done ? int((time - $begin) * 1000) : -1; close $tcp;
    $begin = time; my $got;
    # Like a resolver, retries after a second.
    socket(my $udp, AF_INET, SOCK_DGRAM, 0); connect($udp, pack_sockaddr_in(53, inet_aton($ns)));
    for (1 .. 2) { last if $got; send($udp, query($n + 100), 0);
      my $read = ''; vec($read, fileno($udp), 1) = 1; $got = select($read, undef, undef, 1) && recv($udp, my $answer, 600, 0); }
    push @lookups, $got ? int((time - $begin) * 1000) : -1; close $udp; sleep 0.05;
  }
  print "@connects\\n@lookups\\n";`

const floods: Record<string, string> = {
  connections: `use Socket; use Fcntl; my @held; for (;;) { socket(my $s, AF_INET, SOCK_STREAM, 0) or do { @held = (); next };
    fcntl($s, F_SETFL, O_NONBLOCK); connect($s, pack_sockaddr_in(${port}, inet_aton('${open}'))); push @held, $s; }`,
  SYN: `use Socket; use Fcntl; for (;;) { socket(my $s, AF_INET, SOCK_STREAM, 0) or next; fcntl($s, F_SETFL, O_NONBLOCK);
    connect($s, pack_sockaddr_in(1 + int rand 65000, inet_aton('${silent}'))); close $s }`,
  UDP: `use Socket; for (;;) { socket(my $s, AF_INET, SOCK_DGRAM, 0) or next;
    for (1 .. 50) { send($s, 'x', 0, pack_sockaddr_in(1 + int rand 65000, inet_aton('${silent}'))) } close $s }`,
  DNS: `use Socket; ${nameserverInDock} ${query} for (;;) { socket(my $s, AF_INET, SOCK_DGRAM, 0) or next;
    connect($s, pack_sockaddr_in(53, inet_aton($ns))); for my $n (1 .. 50) { send($s, query($n), 0) } close $s }`,
}

type Seen = { connects: number[]; lookups: number[]; execs: number[]; failures: string[] }

const p95 = (times: readonly number[]): number => {
  const sorted = times.filter((ms) => ms >= 0).toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? Number.POSITIVE_INFINITY
}
const share = (times: readonly number[]): number =>
  times.filter((ms) => ms >= 0).length / Math.max(1, times.length)

const measure = async (server: BenchServer, neighbour: Dock): Promise<Seen> => {
  const seen: Seen = { connects: [], lookups: [], execs: [], failures: [] }
  const measured = exec(server, neighbour.id, 'perl -e "$PROGRAM"', { env: { PROGRAM: measuring } }).then(
    ({ stdout }) => {
      const [connects = '', lookups = ''] = stdout.trim().split('\n')
      seen.connects = connects.split(' ').map(Number)
      seen.lookups = lookups.split(' ').map(Number)
    },
    (error: unknown) => seen.failures.push(String(error)),
  )
  for (let count = 0; count < execs; count++) {
    const begin = performance.now()
    await exec(server, neighbour.id, 'true').then(
      () => seen.execs.push(Math.round(performance.now() - begin)),
      (error: unknown) => {
        seen.execs.push(-1)
        seen.failures.push(String(error))
      },
    )
    await delay(150)
  }
  await measured
  return seen
}

const isGood = ({ connects, lookups, execs: times, failures }: Seen): boolean =>
  failures.length === 0 &&
  share(connects) >= bounds.share &&
  share(lookups) >= bounds.share &&
  p95(connects) <= bounds.connectMs &&
  p95(lookups) <= bounds.lookupMs &&
  p95(times) <= bounds.execMs
const told = ({ connects, lookups, execs: times, failures }: Seen): string => {
  const part = (name: string, all: readonly number[]) =>
    `${name} ${Math.round(share(all) * 100)} % p95 ${p95(all)} ms`
  const failed = failures.length > 0 ? `; ${failures.slice(0, 2).join('; ')}` : ''
  return `${part('connects', connects)}, ${part('lookups', lookups)}, ${part('exec', times)}${failed}`
}

export async function floodsOf(report: Report): Promise<void> {
  const outside = await createOutside(200, [nameServer, open, silent])
  try {
    await outside.start('perl', '-e', outsideProgram)
    await withServer({ DOCK_WARM_POOL: '0' }, async (server) => {
      const [neighbour, attacker] = [await createDock(server), await createDock(server, { cpus: 2 })]
      const quiet = await measure(server, neighbour)
      const control = isGood(quiet)
      report.attack({ what: 'quiet', control, holds: control, seen: told(quiet) })
      for (const [name, program] of Object.entries(floods)) {
        const command = `for n in 1 2 3 4; do timeout 30 perl -e "$PROGRAM" >/dev/null 2>&1 & done; echo begun`
        const begun = await exec(server, attacker.id, command, { env: { PROGRAM: program } })
        await delay(1_500)
        const seen = await measure(server, neighbour)
        await exec(server, attacker.id, 'pkill -9 perl; true').catch(() => undefined)
        report.attack({
          what: `a flood of ${name}`,
          control: control && begun.stdout.includes('begun'),
          holds: isGood(seen),
          seen: told(seen),
        })
        await delay(1_000)
      }
    })
  } finally {
    await outside.remove()
  }
}
