# PATH ID: unpacks an upload beside or in the folder, moves what is complete to its place, and answers with the entry.
my ($path, $id) = @args;
my $target = follow_links($path);
my $is_there = lstat $target;
refuse(20, 'path') if $is_there && !-d _;
# Beside the target, its parent may not be writable; a folder that is there is on the right filesystem itself.
my $unfinished = ($is_there ? $target : parent_of($target)) . "/.dock-upload-$id";
mkdir $unfinished or refuse($!, $is_there ? 'path' : 'parent');

my $tar;
my $give_up = sub {
  $SIG{$_} = 'IGNORE' for qw(HUP INT TERM);
  if ($tar) { kill 'KILL', $tar; waitpid $tar, 0 }
  # Folders that came without permission to write cannot be emptied.
  run('chmod', '-R', 'u+rwX', '--', $unfinished);
  run('rm', '-rf', '--', $unfinished);
};
my $stop = sub { my ($errno, $word) = @_; $give_up->(); refuse($errno, $word) };

pipe my $output, my $input or $stop->($!, 'content');
$tar = fork;
defined $tar or $stop->($!, 'content');
if (!$tar) {
  close $input;
  open STDIN, '<&', $output;
  open STDOUT, '>&', \*STDERR;
  exec { 'tar' } 'tar', '--extract', '--file=-', '--preserve-permissions', '--no-same-owner',
    "--directory=$unfinished" or exit 127;
}
close $output;
# tar may end before the upload, after an error or the end mark of the archive. Its status tells which.
my $status;
my $end_tar = sub {
  close $input;
  waitpid $tar, 0;
  ($status, $tar) = ($?, undef);
};
receive(
  sub {
    $end_tar->() if $tar && !write_all($input, $_[0]);
    return $tar || $status == 0;
  },
  $give_up,
);
$end_tar->() if $tar;
$stop->(0, 'archive') if $status != 0;

# Moves everything in one folder into another. Folders that are there are filled, files are replaced.
sub merge {
  my ($from, $to) = @_;
  opendir my $folder, $from or return 0;
  for my $name (grep { $_ ne '.' && $_ ne '..' } readdir $folder) {
    my ($source, $place) = ("$from/$name", "$to/$name");
    my $is_folder = !-l $source && -d _;
    my $mode      = (lstat $source)[2] & 07777;
    # A folder cannot be moved or filled without the permission to write in it.
    chmod $mode | 0700, $source if $is_folder;
    if ($is_folder && -d $place && !-l $place) { merge($source, $place) or return 0 }
    else { rename $source, $place or return 0 }
    chmod $mode, $place if $is_folder;
  }
  return 1;
}

if ($is_there) {
  my $done  = merge($unfinished, $target);
  my $errno = $! + 0;
  $give_up->();
  refuse($errno, 'merge') unless $done;
}
elsif (!rename $unfinished, $target) { $stop->($!, 'path') }
answer(entry_of($target));
