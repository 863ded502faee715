/** A disk takes the program over that reads it, and the program goes for the disk of another tenant and for the network. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { readDiskFile } from '../../../apps/host-agent/src/disks/capture-reader.ts'
import { spawnConfined } from '../../../apps/host-agent/src/disks/confinement/spawn-confined.ts'
import { runAs } from './attackers.ts'
import type { Report } from './report.ts'

const execute = promisify(execFile)
const fileBytes = 8 * 2 ** 20

/** Makes a disk with one large file. */
const makeDisk = async (folder: string, name: string): Promise<string> => {
  const [tree, disk] = [join(folder, `${name}.tree`), join(folder, `${name}.raw`)]
  await mkdir(tree)
  await writeFile(join(tree, 'file'), Buffer.alloc(fileBytes, name))
  await execute('mkfs.ext4', ['-q', '-F', '-d', tree, disk, '64m'])
  return disk
}

/** Returns the process that has the disk as its descriptor 3, and its user. */
const readerOf = async (disk: string): Promise<{ pid: number; user: number; seccomp: string }> => {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue
    if ((await readlink(`/proc/${entry}/fd/3`).catch(() => '')) !== disk) continue
    const status = await readFile(`/proc/${entry}/status`, 'utf8')
    const value = (name: string) => new RegExp(`^${name}:\\s+(\\w+)`, 'm').exec(status)?.[1] ?? ''
    return { pid: Number(entry), user: Number(value('Uid')), seccomp: value('Seccomp') }
  }
  throw new Error(`no process reads ${disk}`)
}

const steals = (user: number, pid: number): Promise<boolean> =>
  runAs(user, 'head', ['-c', '1', `/proc/${pid}/fd/3`]).then(
    () => true,
    () => false,
  )

/** Connects to a port of loopback, and opens a file of the host. 41 is socket, 42 connect. */
const goOut = (port: number): string => `
  my $address = pack('Sna4x8', 2, ${port}, "\\x7f\\0\\0\\1");
  my $socket = syscall(41, 2, 1, 0);
  print "connected\\n" if $socket >= 0 && syscall(42, $socket, $address, 16) == 0;
  print "read\\n" if open(my $in, '<', '/etc/passwd');
  print "tried\\n";
`

export async function hostileDisk(report: Report): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-parser-'))
  const service = createServer((_, response) => response.end())
  const streams: Readable[] = []
  try {
    const disks = await Promise.all(['mallory', 'victim'].map((name) => makeDisk(folder, name)))
    for (const disk of disks) streams.push((await readDiskFile(disk, '/file')).stream)
    const [mallory, victim] = await Promise.all(disks.map(readerOf))
    if (!mallory || !victim) throw new Error('the disks are not read')
    const stolen = await steals(mallory.user, victim.pid)
    report.attack({
      what: 'the reader of one disk opens the disk of another tenant',
      // A program of the same user could open it.
      control: await steals(victim.user, victim.pid),
      holds: !stolen && mallory.user !== 0 && mallory.seccomp === '2',
      seen: `users ${mallory.user} and ${victim.user}, seccomp ${mallory.seccomp}, ${stolen ? 'opened' : 'refused'}`,
    })

    service.listen(0, '127.0.0.1')
    await once(service, 'listening')
    const script = goOut((service.address() as AddressInfo).port)
    const file = await open(disks[0] ?? '')
    const child = spawnConfined(['perl', '-'], {
      ...{ fd: file.fd, stdio: ['pipe', 'pipe', 'ignore'] },
      limits: { memoryBytes: 2 ** 30, cpuSeconds: 10, fileBytes: 0 },
    })
    child.stdin?.end(script)
    const confined = Buffer.concat((await child.stdout?.toArray()) ?? []).toString()
    await file.close()
    const { stdout } = await execute('perl', ['-e', script])
    report.attack({
      what: 'the reader of a disk connects to a service of this machine, and reads a file of it',
      control: stdout === 'connected\nread\ntried\n',
      holds: confined === 'tried\n',
      seen: `confined: ${confined.trim().replaceAll('\n', ', ')}; not confined: ${stdout.trim().replaceAll('\n', ', ')}`,
    })
  } finally {
    for (const stream of streams) stream.on('error', () => undefined).destroy()
    service.close()
    await rm(folder, { recursive: true, force: true })
  }
}
