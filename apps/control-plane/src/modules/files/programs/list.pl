# PATH LIMIT AFTER: answers with the entry of the path, the entries of the folder that come after the name AFTER, and
# `end HAS_MORE LAST`.
#
# The names of a large folder are sorted into a file, from which later pages are read while it is new. So these pages
# cost no reading of the folder, and few names are in memory, however many the folder has.
my ($path, $limit, $after) = @args;
my $large = 10_000;
my $new_s = 60;
# Names in the file may be gone. A page looks at so many, also if it finds fewer entries.
my $tried_max = 8 * $limit;

my $entry = entry_of($path) // refuse($!, 'path');
if (!-d $path) {
  answer($entry);
  answer('end', 0, '-');
  exit 0;
}
opendir my $folder, $path or refuse($!, 'path');
my ($device, $inode) = stat $path or refuse($!, 'path');
my $kept  = "/tmp/.dock-list-$<-$inode";
my $title = join(' ', $device, $inode, unpack 'H*', $path) . "\0";

my $next = ($after eq '' ? undef : names_in_kept()) // names_in_folder();
my ($tried, $last, @lines) = (0, undef, $entry);
while (@lines <= $limit && $tried++ < $tried_max) {
  my $name = $next->();
  last unless defined $name;
  $last = $name;
  my $line = entry_of("$path/$name");
  push @lines, $line if defined $line;
}
my $has_more = defined $next->() ? 1 : 0;
unlink $kept unless $has_more;
answer(join "\n", @lines, join ' ', 'end', $has_more, defined $last ? unpack 'H*', $last : '-');

# The functions that follow return a function that returns the next name after AFTER.

sub names_in_folder {
  my @names;
  while (defined(my $name = readdir $folder)) {
    next if $name eq '.' || $name eq '..';
    push @names, $name;
    return sort_into_file(@names) // smallest_names() if @names > $large;
  }
  my @rest = sort grep { $_ gt $after } @names;
  return sub { shift @rest };
}

# Reads the folder again and holds few names, without a file: the disk is full.
sub smallest_names {
  my ($bound, @names);
  rewinddir $folder;
  while (defined(my $name = readdir $folder)) {
    next if $name eq '.' || $name eq '..' || $name le $after || (defined $bound && $name gt $bound);
    push @names, $name;
    next if @names < 8 * $limit;
    @names = (sort @names)[0 .. $limit];
    $bound = $names[-1];
  }
  @names = sort @names;
  $#names = $limit if $#names > $limit;
  $tried_max = $limit;
  return sub { shift @names };
}

# Sorts these names and the rest of the folder into the file. Returns nothing if there is no room for it.
sub sort_into_file {
  my $now = time;
  for (glob "/tmp/.dock-list-$<-*") { unlink if abs($now - ((lstat)[9] // $now)) > $new_s }
  my $unfinished = "$kept-$now-$$";
  sysopen my $file, $unfinished, O_RDWR | O_CREAT | O_EXCL, 0600 or return undef;
  my $give_up = sub { unlink $unfinished; return undef };
  local $SIG{PIPE} = 'IGNORE';
  local @SIG{qw(HUP INT TERM)} = (sub { $give_up->(); exit 1 }) x 3;
  write_all($file, $title) or return $give_up->();
  my $child = open(my $sorter, '|-') // return $give_up->();
  if (!$child) {
    $SIG{PIPE} = 'DEFAULT';
    open STDOUT, '>&', $file or exit 1;
    exec '/usr/bin/sort', '-z', '--buffer-size=16M', '--parallel=1' or exit 1;
  }
  for (@_) { print {$sorter} "$_\0" }
  while (defined(my $name = readdir $folder)) {
    next if $name eq '.' || $name eq '..';
    print {$sorter} "$name\0" or last;
  }
  close $sorter or return $give_up->();
  rename $unfinished, $kept or $give_up->();
  return names_in_file($file);
}

# Returns nothing unless the file is of this folder and new. Other users of the Dock can put something else there.
sub names_in_kept {
  sysopen my $file, $kept, O_RDONLY | O_NOFOLLOW | O_NONBLOCK or return undef;
  my @found = stat $file;
  return undef unless -f _ && $found[4] == $< && abs(time - $found[9]) < $new_s;
  my $read = sysread $file, my $begin, length $title;
  return $read && $begin eq $title ? names_in_file($file) : undef;
}

sub names_in_file {
  my ($file) = @_;
  my $bytes = '';
  sysseek $file, place_after($file), 0;
  return sub {
    my $end;
    while (($end = index $bytes, "\0") < 0) {
      sysread $file, $bytes, 65_536, length $bytes or return undef;
    }
    return substr substr($bytes, 0, $end + 1, ''), 0, $end;
  };
}

# Returns where the first name after AFTER begins in the sorted file.
sub place_after {
  my ($file) = @_;
  my ($low, $high) = (length $title, -s $file);
  while ($low < $high) {
    my $middle = int(($low + $high) / 2);
    # The name at the middle, and what is beside it. A name has at most 255 bytes.
    my $from = $middle - 256 < $low ? $low : $middle - 256;
    sysseek $file, $from, 0;
    sysread $file, my $around, 512 or last;
    my $begin = $middle == $from ? 0 : rindex($around, "\0", $middle - $from - 1) + 1;
    my $end = index $around, "\0", $middle - $from;
    last if $end < 0;
    if (substr($around, $begin, $end - $begin) le $after) { $low = $from + $end + 1 }
    else                                                   { $high = $from + $begin }
  }
  return $low;
}
