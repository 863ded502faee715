# delete PATH RECURSIVE | mkdir PATH MODE PARENTS | move FROM TO OVERWRITE ID: changes the path and answers with `done` or
# the entry.
my ($verb, @rest) = @args;

sub delete_path {
  my ($path, $is_recursive) = @_;
  lstat $path or refuse($!, 'path');
  if (!-d _) { unlink $path or refuse($!, 'path') }
  elsif (!$is_recursive) { rmdir $path or refuse($!, 'path') }
  elsif (!run('rm', '-rf', '--', $path)) { refuse(0, 'delete') }
  answer('done');
}

sub make_folder {
  my ($path, $has_parents) = @_;
  return 1 if mkdir $path;
  return 0 unless $! == 2 && $has_parents && parent_of($path) ne $path;
  return make_folder(parent_of($path), 1) && mkdir $path;
}

sub make_path {
  my ($path, $mode, $has_parents) = @_;
  if (make_folder($path, $has_parents)) {
    if ($mode ne '') { chmod oct $mode, $path or refuse($!, 'mode') }
  }
  elsif (!($has_parents && $! == 17 && -d $path)) { refuse($!, $! == 17 ? 'path' : 'parent') }
  answer(entry_of($path));
}

# Moves to another filesystem: copied beside the target first, so that nobody sees half of it.
sub copy_and_remove {
  my ($from, $to, $id) = @_;
  my $unfinished = parent_of($to) . "/.dock-upload-$id";
  my $give_up = sub {
    $SIG{$_} = 'IGNORE' for qw(HUP INT TERM);
    run('chmod', '-R', 'u+rwX', '--', $unfinished);
    run('rm', '-rf', '--', $unfinished);
  };
  $SIG{$_} = sub { $give_up->(); exit 1 } for qw(HUP INT TERM);
  if (!run('cp', '-a', '--', $from, $unfinished)) { $give_up->(); refuse(0, 'copy') }
  if (!rename $unfinished, $to) { my $errno = $! + 0; $give_up->(); refuse($errno, 'to') }
  run('rm', '-rf', '--', $from) or refuse(0, 'delete');
}

sub move_path {
  my ($from, $to, $overwrites, $id) = @_;
  lstat $from or refuse($!, 'from');
  if (lstat $to) {
    refuse(21, 'to') if -d _;
    refuse(17, 'to') unless $overwrites;
  }
  if (!rename $from, $to) {
    refuse($!, $! == 2 ? 'parent' : 'to') unless $! == 18;
    copy_and_remove($from, $to, $id);
  }
  answer(entry_of($to));
}

if    ($verb eq 'delete') { delete_path(@rest) }
elsif ($verb eq 'mkdir')  { make_path(@rest) }
else                      { move_path(@rest) }
