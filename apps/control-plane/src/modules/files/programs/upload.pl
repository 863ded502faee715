# In front of write.pl and unpack.pl. The upload arrives in frames: its length in four bytes, then the bytes. An empty
# frame ends it, so that a connection that breaks is told from an upload that is complete.

# Calls the function with all the bytes, in pieces. Returns true if the upload is complete; exits through `$give_up`, which
# removes what is unfinished, if the connection breaks.
sub receive {
  my ($take, $give_up) = @_;
  $SIG{$_} = sub { $give_up->(); exit 1 } for qw(HUP INT TERM);
  $SIG{PIPE} = 'IGNORE';
  my ($bytes, $left) = ('', 0);
  while (1) {
    while ($left > 0 ? length $bytes : length $bytes >= 4) {
      if ($left == 0) {
        $left = unpack 'N', substr $bytes, 0, 4, '';
        return 1 if $left == 0;
        next;
      }
      my $piece = length $bytes <= $left ? $bytes : substr $bytes, 0, $left;
      substr $bytes, 0, length $piece, '';
      $left -= length $piece;
      $take->($piece) or return 0;
    }
    my $got = sysread STDIN, $bytes, $chunk_bytes, length $bytes;
    next if !defined $got && $! == 4;
    if (!$got) { $give_up->(); exit 1 }
  }
}
