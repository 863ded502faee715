# PATH MODE ID: writes an upload to a file beside the target, renames it, and answers with the entry.
my ($path, $mode, $id) = @args;
my $target = follow_links($path);
my @before = lstat $target;
refuse(21, 'path')   if @before && -d _;
refuse(0, 'special') if @before && !-f _;
my $parent = parent_of($target);
my $unfinished = "$parent/.dock-upload-$id";
sysopen my $file, $unfinished, O_WRONLY | O_CREAT | O_EXCL, 0600 or refuse($!, 'parent');

my $give_up = sub { unlink $unfinished };
my $stop    = sub { my $errno = $! + 0; $give_up->(); refuse($errno, $_[0]) };
receive(sub { write_all($file, $_[0]) }, $give_up) or $stop->('content');
my $bits = $mode ne '' ? oct $mode : @before ? $before[2] & 07777 : 0666 & ~umask;
chmod $bits, $unfinished or $stop->('mode');
close $file or $stop->('content');
rename $unfinished, $target or $stop->('path');
answer(entry_of($target));
