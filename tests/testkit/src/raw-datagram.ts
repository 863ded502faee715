const script = `my ($from, $address, $port, $text) = @ARGV;
socket(my $raw, PF_INET, SOCK_RAW, 17) or die $!;
my $datagram = pack('nnnn', $from, $port, 8 + length $text, 0) . $text;
send($raw, $datagram, 0, pack_sockaddr_in(0, inet_aton($address))) or die $!`

/**
 * Returns the command that sends a UDP datagram from any port, even from port 0, which no ordinary socket can have. Requires
 * root.
 */
export function rawDatagram(
  fromPort: number,
  to: { address: string; port: number },
  text: string,
): ['perl', string[]] {
  return ['perl', ['-MSocket', '-e', script, String(fromPort), to.address, String(to.port), text]]
}
