# PATH RECURSIVE FOLDERS_MAX SECONDS: answers `watching FOLDERS`, then a line for each change: `created|modified|attributes|
# deleted IS_FOLDER PATH`, `moved IS_FOLDER FROM TO`, `overflow`, `alive` every 30 seconds, `ended gone|time`.
use POSIX ();
my ($root, $is_recursive, $folders_max, $seconds) = @args;

# Numbers of inotify_init1, inotify_add_watch and inotify_rm_watch.
my %calls = (x86_64 => [294, 254, 255], aarch64 => [26, 27, 28]);
my ($init, $add, $remove) = @{ $calls{ (POSIX::uname())[4] } // refuse(38, 'watch') };
my ($modify, $attributes, $written) = (0x2, 0x4, 0x8);
my ($moved_from, $moved_to, $create, $delete) = (0x40, 0x80, 0x100, 0x200);
my ($delete_self, $move_self, $overflow, $ignored, $is_folder) = (0x400, 0x800, 0x4000, 0x8000, 0x40000000);
my $wanted = $modify | $attributes | $written | $moved_from | $moved_to | $create | $delete;

my $queue = syscall $init, 0;
refuse($!, 'watch') if $queue < 0;
open my $events, '<&=', $queue or refuse($!, 'watch');

my (%path_of, %watch_of, @lines);

sub hex_of { return unpack 'H*', $_[0] }

sub watch_one {
  my ($path, $mask) = @_;
  my $watch = syscall $add, $queue, $path, $mask;
  return 0 if $watch < 0;
  $path_of{$watch} = $path;
  $watch_of{$path} = $watch;
  return 1;
}

# Watches the folders in a folder. With `$tells`, whatever is found is reported: it came before the watch.
sub watch_below {
  my ($top, $tells) = @_;
  my @left = ($top);
  while (defined(my $path = pop @left)) {
    opendir my $folder, $path or next;
    for my $name (grep { $_ ne '.' && $_ ne '..' } readdir $folder) {
      my $each = $path eq '/' ? "/$name" : "$path/$name";
      my $is = !-l $each && -d _ ? 1 : 0;
      push @lines, "created $is " . hex_of($each) if $tells;
      next unless $is;
      if (keys %path_of >= $folders_max) { $tells ? push(@lines, 'overflow') : refuse(7, 'watch'); return }
      if (watch_one($each, $wanted)) { push @left, $each }
      # Without permission a folder stays unwatched. ENOSPC: the Dock has no watches left.
      elsif ($! == 28) { $tells ? push(@lines, 'overflow') : refuse(7, 'watch'); return }
    }
  }
}

# Watches a folder that appeared, and reports what is in it already.
sub watch_new {
  my ($path) = @_;
  if (keys %path_of >= $folders_max) { push @lines, 'overflow' }
  elsif (watch_one($path, $wanted)) { watch_below($path, 1) }
}

sub is_below { my ($path, $top) = @_; return $path eq $top || index($path, "$top/") == 0 }

sub rename_watches {
  my ($from, $to) = @_;
  for my $path (grep { is_below($_, $from) } keys %watch_of) {
    my $watch = delete $watch_of{$path};
    my $new = $to . substr $path, length $from;
    $path_of{$watch} = $new;
    $watch_of{$new} = $watch;
  }
}

sub forget_watches {
  my ($top) = @_;
  for my $path (grep { is_below($_, $top) } keys %watch_of) {
    my $watch = delete $watch_of{$path};
    delete $path_of{$watch};
    syscall $remove, $queue, $watch;
  }
}

sub leave {
  push @lines, "ended $_[0]";
  write_all(\*STDOUT, join '', map { "$_\n" } @lines);
  exit 0;
}

$root =~ s{(?<=.)/+\z}{}s;
watch_one($root, $wanted | $delete_self | $move_self) or refuse($!, 'path');
my $root_watch = $watch_of{$root};
watch_below($root, 0) if $is_recursive && -d $root;
answer('watching', scalar keys %path_of);

# A move is two events with one cookie; `%left` has what was moved away and has not arrived.
my %left;

# Reports what was moved out of sight.
sub settle_moves {
  for my $cookie (sort { $a <=> $b } grep { $left{$_} } @_) {
    my ($path, $is) = @{ delete $left{$cookie} };
    push @lines, "deleted $is " . hex_of($path);
    forget_watches($path) if $is && $is_recursive;
  }
}

sub take {
  my ($watch, $mask, $cookie, $name) = @_;
  if ($mask & $overflow) { push @lines, 'overflow'; return }
  if ($watch == $root_watch && $mask & ($delete_self | $move_self | $ignored)) { leave('gone') }
  my $folder = $path_of{$watch} // return;
  if ($mask & $ignored) {
    delete $path_of{$watch};
    delete $watch_of{$folder} if ($watch_of{$folder} // -1) == $watch;
    return;
  }
  my $path = $name eq '' ? $folder : $folder eq '/' ? "/$name" : "$folder/$name";
  my $is = $mask & $is_folder ? 1 : 0;
  # A folder reports its own attributes as well; its parent's report is enough.
  return if $name eq '' && $watch != $root_watch;
  if ($mask & $moved_from) { $left{$cookie} = [$path, $is] }
  elsif ($mask & $moved_to && $left{$cookie}) {
    my ($from) = @{ delete $left{$cookie} };
    push @lines, "moved $is " . hex_of($from) . ' ' . hex_of($path);
    if ($is && $is_recursive) {
      rename_watches($from, $path);
      # It may have moved on before its first watch.
      watch_new($path) unless $watch_of{$path};
    }
  }
  elsif ($mask & ($create | $moved_to)) {
    push @lines, "created $is " . hex_of($path);
    watch_new($path) if $is && $is_recursive;
  }
  else {
    my $type = $mask & $delete ? 'deleted' : $mask & $attributes ? 'attributes' : 'modified';
    my $line = "$type $is " . hex_of($path);
    # Each write is an event; one line a batch says it.
    push @lines, $line unless @lines && $lines[-1] eq $line;
  }
}

my $ends_at = time + $seconds;
my $alive_at = time + 30;
my ($events_bit, $input_bit) = ('', '');
vec($events_bit, fileno $events, 1) = 1;
vec($input_bit, fileno STDIN, 1) = 1;
while (1) {
  my $now = time;
  leave('time') if $now >= $ends_at;
  my $until = $alive_at < $ends_at ? $alive_at : $ends_at;
  # Events come in batches of 20 ms, so that the halves of a move meet and repeated writes are one line.
  my $ready = select my $readable = $events_bit | $input_bit, undef, undef, %left ? 0.02 : $until - $now;
  if ($ready > 0 && vec $readable, fileno STDIN, 1) { exit 0 unless sysread STDIN, my $ignored, 1024 }
  if ($ready > 0 && vec $readable, fileno $events, 1) {
    select undef, undef, undef, 0.02;
    my $got = sysread $events, my $bytes, 65_536;
    exit 1 unless $got;
    my @earlier = keys %left;
    for (my $at = 0; $at < $got;) {
      my ($watch, $mask, $cookie, $length) = unpack 'iIII', substr $bytes, $at, 16;
      my ($name) = unpack 'Z*', substr $bytes, $at + 16, $length;
      $at += 16 + $length;
      take($watch, $mask, $cookie, $name);
    }
    settle_moves(@earlier);
  }
  elsif ($ready == 0) { settle_moves(keys %left) }
  if (time >= $alive_at) { push @lines, 'alive'; $alive_at = time + 30 }
  if (@lines) {
    write_all(\*STDOUT, join '', map { "$_\n" } @lines) or exit 1;
    @lines = ();
  }
}
