/**
 * A perl program that gives up every right and then becomes the program to confine. Perl is part of every Debian and Ubuntu,
 * starts in a millisecond, and can call the system directly: the tools of util-linux would take four programs, and those of
 * Debian 12 cannot set a seccomp filter.
 *
 * The confined program sees /usr as its root folder, and its working folder is a detached copy of the mount of
 * /proc/self/fd, so that it opens its file as `./3` without /proc. A detached mount has nothing above it: `..` stays there.
 */
import { buildSystemCallFilter, processorOf } from './system-call-filter.ts'

/** Limits of a confined program, as setrlimit(2) has them. */
export type ConfinedLimits = {
  /** Limit of the address space. */
  memoryBytes: number
  /** Limit of the processor time. */
  cpuSeconds: number
  /** Limit of a file that it writes. */
  fileBytes: number
}

/** Exit code if the program was not started, because its rights could not be taken away. */
export const confinementFailed = 125

/** Resources as in sys/resource.h. */
const [RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_CORE, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_AS] = [0, 1, 4, 6, 7, 9]
const descriptorsMax = 64
const threadsMax = 64

// Arguments: user id, system call numbers, limits, filter in hexadecimal, program and its arguments.
// 428 is open_tree and 436 close_range on every processor. prctl: 24 PR_CAPBSET_DROP, 38 PR_SET_NO_NEW_PRIVS,
// 1 PR_SET_PDEATHSIG, which a change of the user would clear.
const perl = `
my ($user, $calls, $limits, $filter, @command) = @ARGV;
my ($fchdir, $setgroups, $setresgid, $setresuid, $prctl, $capset, $prlimit, $seccomp) = split /,/, $calls;
sub stop { my ($what) = @_; print STDERR "cannot confine a program: $what: $!\\n"; exit ${confinementFailed} }
sub check { my ($what, $result) = @_; $result == 0 or stop($what) }
syscall(436, 4, 0xffffffff, 0);
for (split /,/, $limits) {
  my ($resource, $most) = split /=/;
  my $both = pack 'QQ', $most, $most;
  check("limit $resource", syscall($prlimit, 0, $resource + 0, $both, 0));
}
my $path = '/proc/self/fd';
my $folder = syscall(428, -100, $path, 0x80001);
$folder >= 0 or stop('open_tree');
chroot '/usr' or stop('chroot');
check('fchdir', syscall($fchdir + 0, $folder));
for my $capability (0 .. 63) { last if syscall($prctl + 0, 24, $capability, 0, 0, 0) != 0 }
check('setgroups', syscall($setgroups + 0, 0, 0));
check('setresgid', syscall($setresgid + 0, $user + 0, $user + 0, $user + 0));
check('setresuid', syscall($setresuid + 0, $user + 0, $user + 0, $user + 0));
my ($header, $none) = (pack('LL', 0x20080522, 0), "\\0" x 24);
check('capset', syscall($capset + 0, $header, $none));
check('no_new_privs', syscall($prctl + 0, 38, 1, 0, 0, 0));
check('death signal', syscall($prctl + 0, 1, 9, 0, 0, 0));
$filter = pack 'H*', $filter;
my $program = pack 'Sx6P', length($filter) / 8, $filter;
check('seccomp', syscall($seccomp + 0, 1, 0, $program));
$ENV{PATH} = '/sbin:/bin';
exec { $command[0] } @command or stop($command[0]);
`

let filter: string | undefined

/** Returns the arguments of perl that run the program confined. */
export function launcherArguments(
  user: number,
  limits: ConfinedLimits,
  command: readonly [string, ...string[]],
): string[] {
  const { calls } = processorOf(process.arch)
  filter ??= buildSystemCallFilter(process.arch).toString('hex')
  const { fchdir, setgroups, setresgid, setresuid, prctl, capset, prlimit, seccomp } = calls
  const numbers = [fchdir, setgroups, setresgid, setresuid, prctl, capset, prlimit, seccomp]
  const resources = [
    [RLIMIT_AS, limits.memoryBytes],
    [RLIMIT_CPU, limits.cpuSeconds],
    [RLIMIT_FSIZE, limits.fileBytes],
    [RLIMIT_CORE, 0],
    [RLIMIT_NOFILE, descriptorsMax],
    [RLIMIT_NPROC, threadsMax],
  ]
  const list = resources.map(([resource, most]) => `${resource}=${most}`)
  return ['-e', perl, '--', String(user), numbers.join(','), list.join(','), filter, ...command]
}
