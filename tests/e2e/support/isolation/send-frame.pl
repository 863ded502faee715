# Writes one datagram to eth0 as a frame of its own making: SOURCE DESTINATION PORT, to the hardware address ROUTER.
use strict;
use Socket qw(:DEFAULT inet_pton);
my ($source, $destination, $port, $router) = @ARGV;
my $v6 = $source =~ /:/;
my ($from, $to) = map { inet_pton($v6 ? AF_INET6 : AF_INET, $_) } $source, $destination;

sub checksum {
  my $sum = unpack('%32n*', $_[0]);
  $sum = ($sum >> 16) + ($sum & 0xffff) while $sum >> 16;
  return ~$sum & 0xffff;
}

my @udp = (4000, $port, 12);
my $sum = checksum($from . $to . pack('n2 n4 a4', 12, 17, @udp, 0, 'fake'));
my $datagram = pack('n4 a4', @udp, $sum, 'fake');
my $packet = $v6 ? pack('N n C2', 0x60000000, 12, 17, 64) . $from . $to . $datagram : do {
  my @header = (0x4500, 32, 7, 0, 0x4011);
  pack('n6', @header, checksum(pack('n5', @header) . $from . $to)) . $from . $to . $datagram;
};
my $kind = $v6 ? 0x86dd : 0x0800;
socket(my $wire, 17, SOCK_RAW, 0) or die "no raw socket: $!\n";
ioctl($wire, 0x8933, my $device = pack('a16 i x20', 'eth0', 0)) or die "no eth0: $!";
my $address = pack('S n i S C C a8', 17, $kind, unpack('x16 i', $device), 0, 0, 6, pack('H12', $router =~ s/://gr));
my $frame = pack('H12 H12 n', $router =~ s/://gr, '020000000001', $kind) . $packet;
send($wire, $frame, 0, $address) or die "not sent: $!";
