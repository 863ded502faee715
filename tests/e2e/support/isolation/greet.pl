# Takes TCP connections on a port of every address, and sends datagrams back on those that are named: PORT ADDRESS...
# Prints from where each datagram came.
use strict;
use IO::Select;
use Socket qw(:DEFAULT inet_ntop inet_pton pack_sockaddr_in6 unpack_sockaddr_in6);
my ($port, @addresses) = @ARGV;
# The kernel takes the connections by itself.
socket(my $stream, AF_INET6, SOCK_STREAM, 0);
bind($stream, pack_sockaddr_in6($port, "\0" x 16)) && listen($stream, 128) or die "tcp: $!";
my $sockets = IO::Select->new;
for my $address (@addresses) {
  socket(my $datagram, AF_INET6, SOCK_DGRAM, 0);
  my $number = inet_pton(AF_INET6, $address =~ /:/ ? $address : "::ffff:$address");
  bind($datagram, pack_sockaddr_in6($port, $number)) or die "$address: $!";
  $sockets->add($datagram);
}
$| = 1;
print "ready\n";
while (my @ready = $sockets->can_read) {
  for my $datagram (@ready) {
    my $from = recv($datagram, my $text, 100, 0);
    send($datagram, $text, 0, $from);
    print inet_ntop(AF_INET6, (unpack_sockaddr_in6($from))[1]) =~ s/^::ffff://r, "\n";
  }
}
