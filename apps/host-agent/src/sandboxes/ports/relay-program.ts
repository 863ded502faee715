/**
 * A Perl program that runs inside a Dock and connects to servers on the Dock's own loopback, which cannot be reached from
 * outside. One process serves all connections. It prints its port and moves to the background. A client first sends the
 * wanted port and a newline, and receives one byte, `+` or `-`. Then bytes flow in both directions, with at most `$held`
 * bytes buffered for a slow reader. The program ends when it has been unused for a while.
 */
export const relayProgram = String.raw`
use strict; use warnings; use Socket; use POSIX (); use Errno qw(EAGAIN EINTR EINPROGRESS);
my ($address, $idle) = @ARGV;
my ($held, $most) = (65536, 400);
$SIG{PIPE} = $SIG{HUP} = 'IGNORE';
socket(my $door, PF_INET, SOCK_STREAM, 0) or die "socket: $!\n";
bind($door, pack_sockaddr_in(0, inet_aton($address))) or die "bind: $!\n";
listen($door, 512) or die "listen: $!\n";
my ($port) = unpack_sockaddr_in(getsockname $door);
defined(my $child = fork) or die "fork: $!\n";
if ($child) { syswrite STDOUT, "$port\n"; POSIX::_exit(0) }
POSIX::setsid();
open STDIN, '<', '/dev/null'; open STDOUT, '>', '/dev/null'; open STDERR, '>', '/dev/null';
$door->blocking(0);
my %pairs;   # each pair: near, far (handles), toNear, toFar (bytes), nearOver, farOver, nearShut, farShut, wanted, tries
sub drop { my ($pair) = @_; delete $pairs{$pair->{id}}; close $pair->{near}; close $pair->{far} if $pair->{far} }
sub try { my ($pair) = @_;
  close $pair->{far} if $pair->{far};
  delete $pair->{far};
  while (my $family = shift @{$pair->{tries}}) {
    my ($domain, $to) = $family == 4
      ? (PF_INET, pack_sockaddr_in($pair->{wanted}, INADDR_LOOPBACK))
      : (PF_INET6, pack_sockaddr_in6($pair->{wanted}, Socket::IN6ADDR_LOOPBACK));
    socket(my $far, $domain, SOCK_STREAM, 0) or next;
    $far->blocking(0);
    if (connect($far, $to)) { @$pair{qw(far waits)} = ($far, 1); return }
    if ($! == EINPROGRESS) { @$pair{qw(far waits)} = ($far, 1); return }
    close $far;
  }
  $pair->{toNear} = '-'; $pair->{farOver} = 1; delete $pair->{waits};
}
sub take { my ($from, $into) = @_;   # returns 1: more may follow, 0: end, undef: error
  my $count = sysread($from, $$into, $held - length $$into, length $$into);
  return $count > 0 ? 1 : 0 if defined $count;
  return $! == EAGAIN || $! == EINTR ? 1 : undef;
}
sub give { my ($to, $from) = @_;
  my $count = syswrite($to, $$from);
  return $! == EAGAIN || $! == EINTR ? 1 : undef unless defined $count;
  substr($$from, 0, $count, '');
  return 1;
}
my $next = 0;
for (;;) {
  my ($reads, $writes) = ('', '');
  vec($reads, fileno $door, 1) = 1 if keys %pairs < $most;
  for my $pair (values %pairs) {
    my ($near, $far) = @$pair{qw(near far)};
    vec($reads, fileno $near, 1) = 1 if !$pair->{nearOver} && length $pair->{toFar} < $held;
    vec($writes, fileno $near, 1) = 1 if length $pair->{toNear};
    next unless $far;
    vec($writes, fileno $far, 1) = 1 if $pair->{waits} || length $pair->{toFar};
    vec($reads, fileno $far, 1) = 1 if !$pair->{waits} && !$pair->{farOver} && length $pair->{toNear} < $held;
  }
  my $ready = select($reads, $writes, undef, %pairs ? undef : $idle);
  next if $ready < 0;
  exit 0 if $ready == 0;
  while (keys %pairs < $most && accept(my $near, $door)) {
    $near->blocking(0);
    setsockopt($near, 6, 1, 1);
    $next++;
    $pairs{$next} = { id => $next, near => $near, toNear => '', toFar => '', tries => [4, 6] };
  }
  for my $pair (my @all = values %pairs) {
    my ($near, $far) = @$pair{qw(near far)};
    if ($far && $pair->{waits} && vec($writes, fileno $far, 1)) {
      if (unpack 'i', getsockopt($far, SOL_SOCKET, SO_ERROR)) { try($pair) }
      else { delete $pair->{waits}; setsockopt($far, 6, 1, 1); $pair->{toNear} = '+'; }
      next;
    }
    my $goes = 1;
    if (vec($reads, fileno $near, 1)) {
      my $more = take($near, \$pair->{toFar});
      $goes = defined $more;
      $pair->{nearOver} = 1 if $goes && !$more;
      if ($goes && !$pair->{wanted}) {
        if ($pair->{toFar} =~ s/^(\d{1,5})\n//) { $pair->{wanted} = $1; try($pair); next }
        $goes = 0 if $pair->{nearOver} || length $pair->{toFar} > 6;
      }
    }
    if ($goes && $far && !$pair->{waits} && vec($reads, fileno $far, 1)) {
      my $more = take($far, \$pair->{toNear});
      $goes = defined $more;
      $pair->{farOver} = 1 if $goes && !$more;
    }
    $goes &&= give($near, \$pair->{toNear}) if $goes && length $pair->{toNear};
    $goes &&= give($far, \$pair->{toFar}) if $goes && $far && !$pair->{waits} && length $pair->{toFar};
    if (!$goes) { drop($pair); next }
    if ($pair->{farOver} && !length $pair->{toNear}) {
      if (!$far) { drop($pair); next }
      shutdown($near, 1) unless $pair->{nearShut}++;
    }
    shutdown($far, 1) if $far && !$pair->{waits} && $pair->{nearOver} && !length $pair->{toFar} && !$pair->{farShut}++;
    drop($pair) if $pair->{nearShut} && $pair->{farShut};
  }
}
`
