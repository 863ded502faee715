# Runs in a Dock, as its user, in front of one of the other programs here. Only modules of Debian's perl-base are used.
#
# Arguments are hexadecimal, so that names of any bytes arrive as they are. Answers are lines of words; names in them are
# hexadecimal too. `error ERRNO WORD` refuses the request; WORD says what the error is about.
use strict;
use Fcntl;
binmode STDIN;
binmode STDOUT;
$ENV{LC_ALL} = 'C';
our $chunk_bytes = 262_144;
our @args = map { pack 'H*', $_ } @ARGV;

# Writes all of the second argument. Returns false if that fails.
sub write_all {
  my $handle = shift;
  my $at     = 0;
  while ($at < length $_[0]) {
    my $written = syswrite $handle, $_[0], length($_[0]) - $at, $at;
    if (defined $written) { $at += $written }
    elsif ($! != 4)       { return 0 }
  }
  return 1;
}

sub answer {
  write_all(\*STDOUT, "@_\n") or exit 1;
}

sub refuse {
  my ($errno, $word) = @_;
  answer('error', $errno + 0, $word);
  exit 0;
}

sub parent_of {
  my ($path) = @_;
  $path =~ s{/+[^/]*/*\z}{}s;
  return length $path ? $path : '/';
}

# Returns the line that describes the path, or nothing if it does not exist.
sub entry_of {
  my ($path) = @_;
  my @found = lstat $path or return undef;
  my ($name) = $path =~ m{([^/]+)/*\z}s;
  my $type = -l _ ? 'link' : -d _ ? 'folder' : -f _ ? 'file' : -p _ ? 'pipe' : -S _ ? 'socket' : 'device';
  my $target = $type eq 'link' ? unpack 'H*', readlink $path : '-';
  my $mode = sprintf '%04o', $found[2] & 07777;
  return join ' ', 'entry', $type, $found[7], $mode, $found[9], unpack('H*', $name // '/'), $target;
}

# Returns where the path leads if its last part is a symbolic link, also if nothing is there.
sub follow_links {
  my ($path) = @_;
  for (1 .. 40) {
    return $path unless -l $path;
    my $target = readlink $path;
    $path = $target =~ m{^/} ? $target : parent_of($path) . "/$target";
  }
  refuse(40, 'path');
}

# Runs a program without a shell. Returns true if it succeeds. What it writes is not part of our answer.
sub run {
  my @command = @_;
  my $child = fork;
  return 0 unless defined $child;
  if (!$child) {
    open STDOUT, '>&', \*STDERR;
    exec { $command[0] } @command or exit 127;
  }
  waitpid $child, 0;
  return $? == 0;
}
