# PATH LIMIT AFTER: answers with the entry of the path, the entries of the folder that come after the name AFTER, and
# `end HAS_MORE LAST`. Keeps few names in memory, however many the folder has.
my ($path, $limit, $after) = @args;
my $entry = entry_of($path) // refuse($!, 'path');
if (!-d $path) {
  answer($entry);
  answer('end', 0, '-');
  exit 0;
}
opendir my $folder, $path or refuse($!, 'path');
my ($has_more, $bound, @names) = (0);
while (defined(my $name = readdir $folder)) {
  next if $name eq '.' || $name eq '..' || $name le $after;
  if (defined $bound && $name gt $bound) { $has_more = 1; next }
  push @names, $name;
  next if @names < 8 * $limit;
  @names = (sort @names)[0 .. $limit - 1];
  ($has_more, $bound) = (1, $names[-1]);
}
@names = sort @names;
if (@names > $limit) { $has_more = 1; $#names = $limit - 1 }
my @lines = ($entry, grep { defined } map { entry_of("$path/$_") } @names);
answer(join "\n", @lines, join ' ', 'end', $has_more, @names ? unpack 'H*', $names[-1] : '-');
