/** What a program can do that a tenant has taken over. Needs root, as the host agent has it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FileHandle, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { confinedUsers } from './confined-users.ts'
import { confinedFile, spawnConfined } from './spawn-confined.ts'

let folder: string
let file: FileHandle
const children: ChildProcess[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-confined-'))
  await writeFile(join(folder, 'disk'), 'the disk')
  file = await open(join(folder, 'disk'))
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await file.close()
  await rm(folder, { recursive: true })
})

const limits = { memoryBytes: 2 ** 30, cpuSeconds: 10, fileBytes: 4096 }
const confined = (script: string, ...args: string[]): ChildProcess => {
  // With `-e`, perl would need /dev/null.
  const child = spawnConfined(['perl', '-', ...args], {
    ...{ fd: file.fd, limits, stdio: ['pipe', 'pipe', 'pipe'] },
  })
  children.push(child)
  child.stdin?.write(`${script}\n__END__\n`)
  return child
}
const unconfined = (script: string, ...args: string[]): ChildProcess => {
  const child = spawn('perl', ['-e', script, ...args], {
    stdio: ['pipe', 'pipe', 'pipe', file.fd],
    cwd: '/proc/self/fd',
  })
  children.push(child)
  return child
}
const printed = async (child: ChildProcess): Promise<string> => {
  let text = ''
  child.stdin?.end()
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
  await once(child, 'close')
  return text
}
/** Starts a program that waits, and returns what /proc says of it. */
const statusOf = async (child: ChildProcess): Promise<{ status: string; limits: string }> => {
  await once(child.stdout!, 'data')
  const read = (name: string) => readFile(`/proc/${child.pid}/${name}`, 'utf8')
  return { status: await read('status'), limits: await read('limits') }
}
const waits = '$| = 1; print "ready"; <STDIN>'

it('takes every right from the program', async () => {
  const { status, limits: set } = await statusOf(confined(waits))
  const [, ...users] = /^Uid:\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)$/m.exec(status)!.map(Number)
  expect(new Set(users).size).toBe(1)
  expect(users[0]).toBeGreaterThanOrEqual(confinedUsers.first)
  expect(users[0]).toBeLessThanOrEqual(confinedUsers.last)
  expect(status).toMatch(new RegExp(`^Gid:\\s+${users[0]}\\s`, 'm'))
  expect(status).toMatch(/^Groups:\s*$/m)
  for (const name of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
    expect(status).toMatch(new RegExp(`^Cap${name}:\\s+0+$`, 'm'))
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
  expect(status).toMatch(/^Seccomp:\s+2$/m)
  expect(set).toMatch(/^Max address space\s+1073741824\s+1073741824 /m)
  expect(set).toMatch(/^Max cpu time\s+10\s+10 /m)
  expect(set).toMatch(/^Max file size\s+4096\s+4096 /m)
  expect(set).toMatch(/^Max core file size\s+0\s+0 /m)
})

it('gives each program a user of its own', async () => {
  const users = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { status } = await statusOf(confined(waits))
      return /^Uid:\s+(\d+)/m.exec(status)?.[1]
    }),
  )
  expect(new Set(users).size).toBe(20)
})

/** Prints the names of the attempts that succeed. 41 socket, 57 fork, 101 ptrace, 272 unshare, 425 io_uring_setup. */
const attacks = `
  my ($secret, $victim) = @ARGV;
  my ($old, $path, $params) = ($ENV{OLD}, '/', "\\0" x 256);
  sub note { my ($what, $works) = @_; print "$what\\n" if $works }
  open(my $own, '<', '${confinedFile}');
  note('own file', <$own> eq 'the disk');
  note('file of the host', open(my $host, '<', '/etc/passwd'));
  note('file of the host by the working folder', open(my $above, '<', '../../../../etc/passwd'));
  note('secret of another folder', open(my $other, '<', $secret));
  note('processes', -d '/proc/1');
  note('folders above', -e '../status' || -e '../../etc' || -e '../../self');
  note('descriptor of another program', open(my $stolen, '<', "/proc/$victim/fd/3"));
  note('signal', kill(0, $victim));
  for my $domain (1, 2, 10, 16) { note("socket $domain", syscall(41, $domain, 2, 0) >= 0) }
  note('trace', syscall(101, 16, $victim, 0, 0) == 0);
  note('namespaces of a user', syscall(272, 0x10000000) == 0);
  note('io_uring', syscall(425, 4, $params) >= 0);
  note('mount', syscall(165, $path, $path, $path, 4096, 0) == 0);
  note('a terminal\\'s ioctl', ioctl(STDIN, 0x5413, $params) || $! != 38);
  note('32-bit calls', syscall(0x40000000 + 39) > 0);
  my $child = fork;
  exit if defined $child && $child == 0;
  note('a new process', defined $child);
`

it.runIf(process.arch === 'x64')('leaves a program that was taken over nothing but its file', async () => {
  const secret = join(folder, 'secret')
  await writeFile(secret, 'secret')
  const victim = confined(waits)
  await once(victim.stdout!, 'data')
  const control = await printed(unconfined(attacks, secret, String(victim.pid)))
  for (const each of ['file of the host', 'secret', 'descriptor', 'signal', 'socket 2', 'a new process'])
    expect(control).toContain(each)
  expect(await printed(confined(attacks, secret, String(victim.pid)))).toBe('own file\n')
})

it('writes no file of the host', async () => {
  const script = `
    for (qw(/tmp/x /x ./x /lib/x /local/x /src/x)) { print "wrote $_\\n" if open(my $out, '>', $_) }
    print 'tried'`
  expect(await printed(confined(script))).toBe('tried')
})

it('ends with the process that started it', async () => {
  const module = new URL('./spawn-confined.ts', import.meta.url).pathname
  const starter = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { openSync } from 'node:fs'
     import { spawnConfined } from ${JSON.stringify(module)}
     const child = spawnConfined(['sh', '-c', 'echo ready; exec sleep 600'],
       { fd: openSync('/dev/null'), limits: ${JSON.stringify(limits)}, stdio: ['ignore', 'pipe', 'pipe'] })
     child.stdout.once('data', () => console.log(child.pid))`,
  ])
  children.push(starter)
  const [pid] = await once(starter.stdout!.setEncoding('utf8'), 'data')
  const state = () => readFile(`/proc/${Number(pid)}/stat`, 'utf8').catch(() => 'gone')
  expect(await state()).toMatch(/\((sh|sleep)\)/)
  starter.kill('SIGKILL')
  await expect.poll(state, { timeout: 5_000 }).toMatch(/^gone$|\) Z /)
})
