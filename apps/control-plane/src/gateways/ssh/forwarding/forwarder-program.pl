# Connects and listens inside a Dock for the SSH gateway, which runs this as the Dock's user. stdin and stdout carry frames:
# length (4 bytes, of what follows), type (1), stream (4), payload. Needs only what Debian's perl-base contains.
# Each side sends at most as many bytes of a stream as the other side has granted, so that neither has to stop reading.
use strict;
use warnings;
use Errno qw(EAGAIN EINTR EINPROGRESS);
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use Socket qw(:all);

use constant { CONNECT => 1, CONNECT_UNIX => 2, LISTEN => 3, LISTEN_UNIX => 4, LISTEN_AGENT => 5, UNLISTEN => 6 };
use constant { DATA => 7, FINISH => 8, CLOSE => 9, GRANT => 10, OPENED => 11, FAILED => 12, ACCEPTED => 13 };
use constant { WINDOW => 262144, CHUNK => 32768, STREAMS => 512 };

my (%streams, %listeners, $input, $next_accepted);
$input = '';
$next_accepted = 0x80000000;

$SIG{PIPE} = 'IGNORE';
$SIG{CHLD} = 'IGNORE';
$SIG{HUP} = $SIG{TERM} = $SIG{INT} = sub { exit 0 };
END { remove_files($_) for values %listeners }

binmode STDIN;
binmode STDOUT;
non_blocking(\*STDIN);

sub non_blocking { fcntl($_[0], F_SETFL, fcntl($_[0], F_GETFL, 0) | O_NONBLOCK) }

sub send_frame {
  my ($type, $stream, $payload) = @_;
  my $frame = pack('NCN', 5 + length $payload, $type, $stream) . $payload;
  my $at = 0;
  while ($at < length $frame) {
    my $written = syswrite STDOUT, $frame, length($frame) - $at, $at;
    if (defined $written) { $at += $written }
    elsif ($! == EAGAIN) { my $bits = ''; vec($bits, 1, 1) = 1; select undef, $bits, undef, undef }
    elsif ($! != EINTR) { exit 0 }
  }
}

sub add_stream {
  my ($id, $socket, %more) = @_;
  non_blocking($socket);
  $streams{$id} = { socket => $socket, out => '', granted => WINDOW, written => 0, %more };
}

# Connects to the first of the addresses that accepts. `later` are the others.
sub connect_stream {
  my ($id, @addresses) = @_;
  my $why = 'no address';
  while (my $address = shift @addresses) {
    my ($family, $target) = @$address;
    socket(my $socket, $family, SOCK_STREAM, 0) or do { $why = "$!"; next };
    add_stream($id, $socket, later => [@addresses]);
    if (connect $socket, $target) { $streams{$id}{connecting} = 1; return connected($id) }
    if ($! == EINPROGRESS || $! == EAGAIN) { $streams{$id}{connecting} = 1; return }
    $why = "$!";
    delete $streams{$id};
  }
  send_frame(FAILED, $id, $why);
}

sub connected {
  my ($id) = @_;
  my $stream = $streams{$id};
  my $error = unpack 'i', getsockopt($stream->{socket}, SOL_SOCKET, SO_ERROR);
  if ($error) {
    my @later = @{ $stream->{later} };
    delete $streams{$id};
    $! = $error;
    return @later ? connect_stream($id, @later) : send_frame(FAILED, $id, "$!");
  }
  setsockopt $stream->{socket}, IPPROTO_TCP, TCP_NODELAY, 1 if sockaddr_family(getsockname $stream->{socket}) != AF_UNIX;
  delete @$stream{qw(connecting later)};
  send_frame(OPENED, $id, '');
}

sub addresses_of {
  my ($host, $port, %hints) = @_;
  my ($error, @found) = getaddrinfo($host, $port, { socktype => SOCK_STREAM, %hints });
  return map { [$_->{family}, $_->{addr}] } @found;
}

# Looks a name up in a child process, because a slow name server must not hold up the other streams.
sub look_up {
  my ($id, $host, $port) = @_;
  my @known = addresses_of($host, $port, flags => AI_NUMERICHOST);
  return connect_stream($id, @known) if @known;
  pipe(my $read, my $write) or return send_frame(FAILED, $id, "$!");
  my $child = fork;
  return send_frame(FAILED, $id, "$!") unless defined $child;
  if (!$child) {
    $SIG{$_} = 'DEFAULT' for qw(ALRM HUP INT TERM);
    alarm 20;
    syswrite $write, join '', map { pack 'NN/a', $_->[0], $_->[1] } addresses_of($host, $port);
    require POSIX;
    POSIX::_exit(0);
  }
  close $write;
  add_stream($id, $read, looking => '');
}

sub looked_up {
  my ($id) = @_;
  my $stream = $streams{$id};
  my $read = sysread $stream->{socket}, $stream->{looking}, CHUNK, length $stream->{looking};
  return if $read || (!defined $read && ($! == EAGAIN || $! == EINTR));
  my $found = $stream->{looking};
  delete $streams{$id};
  my @addresses;
  while (length $found > 8) {
    my ($family, $address, $rest) = unpack 'N N/a a*', $found;
    push @addresses, [$family, $address];
    $found = $rest;
  }
  @addresses ? connect_stream($id, @addresses) : send_frame(FAILED, $id, 'the name is not known');
}

sub listen_on {
  my ($id, $family, $address, %more) = @_;
  my $why;
  if (!socket(my $socket, $family, SOCK_STREAM, 0)) { $why = "$!" }
  else {
    setsockopt $socket, SOL_SOCKET, SO_REUSEADDR, 1 if $family != AF_UNIX;
    if (bind($socket, $address) && listen($socket, 128)) {
      non_blocking($socket);
      $listeners{$id} = { socket => $socket, %more };
      my $shown = $more{path};
      if (!defined $shown) { my ($error, $host, $port) = getnameinfo(getsockname $socket, NI_NUMERICHOST | NI_NUMERICSERV); $shown = $port }
      return send_frame(OPENED, $id, $shown);
    }
    $why = "$!";
  }
  rmdir $more{folder} if defined $more{folder};
  send_frame(FAILED, $id, $why);
}

# The folder's name cannot be guessed, and only this user can enter it.
sub listen_agent {
  my ($id) = @_;
  my $random = '';
  if (open my $source, '<', '/dev/urandom') { sysread $source, $random, 12 }
  my $folder = '/tmp/ssh-' . unpack 'H*', $random;
  mkdir $folder, 0700 or return send_frame(FAILED, $id, "$!");
  my $path = "$folder/agent";
  listen_on($id, AF_UNIX, pack_sockaddr_un($path), path => $path, folder => $folder);
}

sub listen_unix {
  my ($id, $path) = @_;
  # As sshd: a file that is there already is an error, unless it is a socket that nobody serves any more.
  if (-S $path && socket my $probe, AF_UNIX, SOCK_STREAM, 0) {
    unlink $path unless connect $probe, pack_sockaddr_un($path);
  }
  listen_on($id, AF_UNIX, pack_sockaddr_un($path), path => $path);
}

sub remove_files {
  my ($listener) = @_;
  unlink $listener->{path} if defined $listener->{path};
  rmdir $listener->{folder} if defined $listener->{folder};
}

sub accept_stream {
  my ($id) = @_;
  my $socket;
  my $peer = accept($socket, $listeners{$id}{socket}) or return;
  return if keys %streams >= STREAMS;
  my $shown = "unknown\0" . '0';
  if (sockaddr_family(getsockname $socket) != AF_UNIX) {
    my ($error, $host, $port) = getnameinfo($peer, NI_NUMERICHOST | NI_NUMERICSERV);
    $shown = "$host\0$port" unless $error;
    setsockopt $socket, IPPROTO_TCP, TCP_NODELAY, 1;
  }
  my $stream = $next_accepted++;
  add_stream($stream, $socket);
  send_frame(ACCEPTED, $stream, pack('N', $id) . $shown);
}

sub read_stream {
  my ($id) = @_;
  my $stream = $streams{$id};
  my $most = $stream->{granted} < CHUNK ? $stream->{granted} : CHUNK;
  my $bytes;
  my $read = sysread $stream->{socket}, $bytes, $most;
  if ($read) {
    $stream->{granted} -= $read;
    return send_frame(DATA, $id, $bytes);
  }
  return if !defined $read && ($! == EAGAIN || $! == EINTR);
  return drop($id) unless defined $read;
  $stream->{ended} = 1;
  send_frame(FINISH, $id, '');
  finish($id);
}

sub write_stream {
  my ($id) = @_;
  my $stream = $streams{$id};
  if (length $stream->{out}) {
    my $written = syswrite $stream->{socket}, $stream->{out};
    if (!defined $written) { return $! == EAGAIN || $! == EINTR ? undef : drop($id) }
    substr $stream->{out}, 0, $written, '';
    $stream->{written} += $written;
    if ($stream->{written} >= WINDOW / 4) { send_frame(GRANT, $id, pack 'N', $stream->{written}); $stream->{written} = 0 }
  }
  finish($id) if !length $stream->{out};
}

# Passes the end of the stream on once everything before it is written, and forgets a stream that has ended both ways.
sub finish {
  my ($id) = @_;
  my $stream = $streams{$id} or return;
  return if length $stream->{out} || $stream->{connecting} || !$stream->{closing};
  shutdown $stream->{socket}, 1 unless $stream->{shut};
  $stream->{shut} = 1;
  drop($id) if $stream->{ended};
}

# A child that looks a name up holds copies of all sockets, so closing alone would not reach the peer.
sub forget {
  my $stream = delete $streams{ $_[0] } or return 0;
  shutdown $stream->{socket}, 2;
  return 1;
}

sub drop {
  my ($id) = @_;
  forget($id) and send_frame(CLOSE, $id, '');
}

# The other side wants no more bytes of the stream. What it has sent is still written.
sub leave {
  my ($id) = @_;
  my $stream = $streams{$id} or return;
  return forget($id) if $stream->{connecting} || defined $stream->{looking};
  $stream->{closing} = $stream->{ended} = 1;
  finish($id);
}

sub handle {
  my ($type, $id, $payload) = @_;
  my $stream = $streams{$id};
  if ($type == DATA) { $stream->{out} .= $payload if $stream }
  elsif ($type == GRANT) { $stream->{granted} += unpack 'N', $payload if $stream }
  elsif ($type == FINISH) { if ($stream) { $stream->{closing} = 1; finish($id) } }
  elsif ($type == CLOSE) { leave($id) }
  elsif ($type == CONNECT) { look_up($id, split /\0/, $payload) }
  elsif ($type == CONNECT_UNIX) { connect_stream($id, [AF_UNIX, pack_sockaddr_un($payload)]) }
  elsif ($type == LISTEN) {
    my ($first) = addresses_of((split /\0/, $payload), flags => AI_PASSIVE);
    $first ? listen_on($id, @$first) : send_frame(FAILED, $id, 'the address is not known');
  }
  elsif ($type == LISTEN_UNIX) { listen_unix($id, $payload) }
  elsif ($type == LISTEN_AGENT) { listen_agent($id) }
  elsif ($type == UNLISTEN) { my $gone = delete $listeners{$id}; remove_files($gone) if $gone }
}

sub read_frames {
  my $read = sysread STDIN, $input, 65536, length $input;
  return if !defined $read && ($! == EAGAIN || $! == EINTR);
  exit 0 unless $read;
  my $at = 0;
  while (length($input) - $at >= 4) {
    my $length = unpack 'N', substr $input, $at, 4;
    last if length($input) - $at < 4 + $length;
    handle(unpack('CNa*', substr $input, $at + 4, $length));
    $at += 4 + $length;
  }
  substr $input, 0, $at, '';
}

sub bit { my ($bits, $handle) = @_; vec($$bits, fileno $handle, 1) = 1 }
sub has { my ($bits, $handle) = @_; my $number = fileno $handle; defined $number && vec $bits, $number, 1 }

while (1) {
  my ($readable, $writable) = ('', '');
  bit(\$readable, \*STDIN);
  bit(\$readable, $_->{socket}) for values %listeners;
  for my $stream (values %streams) {
    bit(\$readable, $stream->{socket})
      if defined $stream->{looking} || (!$stream->{connecting} && !$stream->{ended} && $stream->{granted} > 0);
    bit(\$writable, $stream->{socket}) if $stream->{connecting} || length $stream->{out};
  }
  # Streams that are added below may reuse a descriptor that was selected for another stream.
  my @selected = keys %streams;
  select($readable, $writable, undef, undef) >= 0 or next;
  read_frames() if has($readable, \*STDIN);
  for my $id (keys %listeners) { accept_stream($id) if $listeners{$id} && has($readable, $listeners{$id}{socket}) }
  for my $id (@selected) {
    my $stream = $streams{$id} or next;
    if (defined $stream->{looking}) { looked_up($id) if has($readable, $stream->{socket}); next }
    if ($stream->{connecting}) { connected($id) if has($writable, $stream->{socket}); next }
    write_stream($id) if has($writable, $stream->{socket}) && length $stream->{out};
    read_stream($id) if $streams{$id} && !$stream->{ended} && $stream->{granted} > 0 && has($readable, $stream->{socket});
  }
}
