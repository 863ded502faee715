# PATH AS_TAR IS_HEAD FIRST LAST: answers `file SIZE MTIME INODE MODE` and writes the bytes of the range, or answers `tar` and
# writes a tar. Without FIRST, LAST counts bytes from the end.
my ($path, $as_tar, $is_head, $first, $last) = @args;

if ($as_tar) {
  my $what = '.';
  if (-d $path) {
    chdir $path or refuse($!, 'path');
    opendir my $folder, '.' or refuse($!, 'path');
  }
  else {
    lstat $path or refuse($!, 'path');
    # A link that leads nowhere is packed as it is.
    refuse(0, 'special') if -e $path && !-f _;
    ($what) = $path =~ m{([^/]+)/*\z}s;
    $what = "./$what";
    chdir parent_of($path) or refuse($!, 'path');
  }
  answer('tar');
  exit 0 if $is_head;
  exec { 'tar' } 'tar', '--create', '--file=-', '--', $what or exit 127;
}

# Opening a named pipe would wait for its writer.
sysopen my $file, $path, O_RDONLY | O_NONBLOCK or refuse($!, 'path');
my @found = stat $file;
refuse(21, 'read')   if -d _;
refuse(0, 'special') if !-f _;
my $size = $found[7];
answer('file', $size, $found[9], $found[1], $found[2] & 07777);
exit 0 if $is_head;

my $start = $first ne '' ? $first : $size > $last ? $size - $last : 0;
my $end = $first eq '' || $last eq '' || $last >= $size ? $size : $last + 1;
sysseek $file, $start, 0 or exit 1;
for (my $left = $end - $start; $left > 0;) {
  my $got = sysread $file, my $bytes, $left < $chunk_bytes ? $left : $chunk_bytes;
  next if !defined $got && $! == 4;
  exit 1 unless $got;
  write_all(\*STDOUT, $bytes) or exit 1;
  $left -= $got;
}
