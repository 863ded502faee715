/** script/install/rootfs-tree with tarballs that attack the machine, and with an honest one. Needs root. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'

const script = resolve(import.meta.dirname, '../../../script/install/rootfs-tree')
const cache = process.env.DOCK_IMAGE_CACHE ?? resolve(import.meta.dirname, '../../../.tools/test/images')

let folder: string
let victim: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-rootfs-'))
  victim = join(folder, 'victim')
  mkdirSync(victim)
})
afterEach(() => {
  spawnSync('umount', [join(folder, 'work/root')])
  rmSync(folder, { recursive: true })
})

type Entry = {
  name: string
  type?: string
  link?: string
  content?: Buffer | string
  mode?: number
  uid?: number
}

/** Returns one entry of a tar archive. Nothing is checked, so that it can be one that no tar program writes. */
const entry = ({ name, type = '0', link = '', content = '', mode = 0o644, uid = 0 }: Entry): Buffer => {
  const head = Buffer.alloc(512)
  const size = Buffer.byteLength(content)
  const octal = (value: number, at: number, length: number) =>
    head.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at)
  head.write(name, 0, 100)
  octal(mode, 100, 8)
  octal(uid, 108, 8)
  octal(uid, 116, 8)
  octal(size, 124, 12)
  octal(0, 136, 12)
  head.write('        ', 148)
  head.write(type, 156)
  head.write(link, 157, 100)
  head.write('ustar\x0000', 257)
  octal(1, 329, 8)
  octal(3, 337, 8)
  octal(
    head.reduce((sum, byte) => sum + byte, 0),
    148,
    8,
  )
  return Buffer.concat([head, Buffer.from(content), Buffer.alloc((512 - (size % 512)) % 512)])
}
const archive = (...entries: Entry[]): Buffer => Buffer.concat([...entries.map(entry), Buffer.alloc(1024)])

const bash: Entry = { name: 'usr/bin/bash', content: readFileSync('/bin/bash'), mode: 0o755 }
const honest: Entry[] = [
  { name: './bin', type: '2', link: '/usr/bin' },
  bash,
  { name: 'usr/bin/passwd', content: 'x', mode: 0o4755 },
  { name: 'etc/passwd', content: 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n' },
]

const unpack = (tarball: Buffer, sha256?: string): { status: number | null; said: string } => {
  const work = join(folder, 'work')
  mkdirSync(work)
  writeFileSync(join(folder, 'rootfs.tar'), tarball)
  if (sha256) writeFileSync(join(folder, 'rootfs.sha256'), sha256)
  const done = spawnSync(script, ['test', join(folder, 'rootfs.tar'), cache, work], { encoding: 'utf8' })
  return { status: done.status, said: done.stderr }
}
const inTree = (path: string): string => join(folder, 'work/root', path)

it('makes an image of a compressed tarball, with the user of a Dock and what `sudo` needs', () => {
  const done = unpack(gzipSync(archive(...honest)))
  expect(done).toMatchObject({ status: 0 })
  const passwd = readFileSync(inTree('etc/passwd'), 'utf8')
  expect(passwd).toContain('\nuser:x:1000:1000::/home/user:/bin/bash\n')
  expect(passwd).not.toContain('node')
  expect(lstatSync(inTree('home/user/work'))).toMatchObject({ uid: 1000, gid: 1000 })
  expect(lstatSync(inTree('usr/bin/passwd')).mode & 0o7777).toBe(0o4755)
  expect(lstatSync(inTree('usr/local/bin/sudo')).mode & 0o777).toBe(0o755)
  // The programs bring their own loader and libraries.
  const program = readFileSync(inTree('usr/lib/dock/bin/s6-sudod'), 'latin1')
  expect(program).toMatch(/\/usr\/lib\/dock\/lib\/ld-linux/)
  expect(existsSync(inTree('usr/lib/dock/lib/libc.so.6'))).toBe(true)
  expect(done.said).toMatch(/without \/usr\/bin\/perl/)
})

it('never writes outside the tree, whatever links it contains', () => {
  const links = ['etc', 'usr/local/bin', 'usr/lib/dock', 'home'].map((name) => ({
    ...{ name, type: '2', link: victim },
  }))
  const up = { name: 'usr/sbin', type: '2', link: `../../../../../../../../..${victim}` }
  const done = unpack(archive({ name: 'bin', type: '2', link: 'usr/bin' }, bash, ...links, up))
  expect(done).toMatchObject({ status: 0 })
  expect(readdirSync(victim)).toEqual([])
  expect(readFileSync(inTree(`${victim}/passwd`), 'utf8')).toContain('user:x:1000')
})

it.each<[string, Entry[]]>([
  ['a name that leads up', [{ name: '../../victim/file', content: 'x' }]],
  [
    'a file behind a link',
    [
      { name: 'out', type: '2', link: '@' },
      { name: 'out/file', content: 'x' },
    ],
  ],
  ['a hard link to a file of this machine', [{ name: 'in', type: '1', link: '@/../secret' }]],
])('never reaches out by %s', (_, entries) => {
  writeFileSync(join(folder, 'secret'), 'of this machine')
  const real = entries.map((each) => (each.link ? { ...each, link: each.link.replace('@', victim) } : each))
  unpack(archive(...honest, ...real))
  expect(readdirSync(victim)).toEqual([])
  expect(existsSync(inTree('in'))).toBe(false)
  expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe('of this machine')
})

it('leaves out devices and pipes', () => {
  const special = [
    { name: 'dev/null', type: '3' },
    { name: 'srv/disk', type: '4' },
    { name: 'srv/pipe', type: '6' },
    { name: 'srv/file', content: 'x' },
  ]
  expect(unpack(archive(...honest, ...special))).toMatchObject({ status: 0 })
  expect(readdirSync(inTree('dev'))).toEqual([])
  expect(readdirSync(inTree('srv'))).toEqual(['file'])
})

/** Prints what a taken-over extractor could do: 23 is PR_CAPBSET_READ, 137 statfs, 133 mknod. ST_NODEV is 4, ST_NOSUID 2. */
const probe = `
  my @kept = grep { syscall(157, 23, $_, 0, 0, 0) == 1 } 0 .. 40;
  print "capabilities @kept\n";
  for my $path ('/', '/tmp', '/tree') {
    my ($at, $facts) = ($path, "x" x 120);
    syscall(137, $at, $facts);
    print "$path ", unpack('x80 Q', $facts) & 6, "\n";
  }
  my $disk = $ENV{DISK} || '/tmp/disk';
  print "device\n" if syscall(133, $disk, 060600, 0x700) == 0;
`

it.runIf(process.arch === 'x64')('leaves a taken-over extractor no way to a device', () => {
  const install = join(folder, 'checkout/script/install')
  mkdirSync(join(folder, 'checkout/images/overlay'), { recursive: true })
  mkdirSync(join(folder, 'programs'))
  mkdirSync(install, { recursive: true })
  cpSync(script, join(install, 'rootfs-tree'))
  writeFileSync(join(install, 'dock-programs'), `#!/bin/sh\necho ${folder}/programs\n`, { mode: 0o755 })
  writeFileSync(join(install, 'rootfs-inside'), 'exec perl /dock/probe')
  writeFileSync(join(install, 'probe'), probe)
  mkdirSync(join(folder, 'work'))
  writeFileSync(join(folder, 'rootfs.tar'), archive(...honest))
  const done = spawnSync(
    join(install, 'rootfs-tree'),
    ['test', join(folder, 'rootfs.tar'), cache, join(folder, 'work')],
    { encoding: 'utf8' },
  )
  // chown, dac_override, fowner and fsetid.
  expect(done.stdout).toBe('capabilities 0 1 3 4\n/ 6\n/tmp 6\n/tree 6\n')
  const control = spawnSync('perl', ['-e', probe], {
    ...{ encoding: 'utf8', env: { ...process.env, DISK: join(folder, 'disk') } },
  })
  expect(control.stdout).toMatch(/^capabilities .*\b27\b[\s\S]*\ndevice\n$/)
})

it.each<[string, Buffer, string | undefined, RegExp]>([
  ['another digest', archive(...honest), '0'.repeat(64), /demands 0{64}/],
  ['no bash', archive({ name: 'etc/passwd', content: '' }), undefined, /has no \/bin\/bash/],
  [
    'another processor',
    archive({ ...bash, name: 'bin/bash', content: Buffer.alloc(64) }),
    undefined,
    /kind of processor/,
  ],
  ['layers', archive({ name: 'manifest.json', content: '[]' }), undefined, /docker export/],
  ['something else', Buffer.from('not a tarball'.repeat(100)), undefined, /must be a tar archive/],
])('refuses a tarball with %s, and says why', (_, tarball, sha256, reason) => {
  const done = unpack(tarball, sha256)
  expect(done.status).toBe(1)
  expect(done.said).toMatch(reason)
})

it('refuses a sparse file that pretends to be larger than a disk', () => {
  const made = spawnSync('bash', [
    '-c',
    'truncate -s 1T "$1/large" && tar -SC "$1" -cf "$1/sparse.tar" large',
    'sh',
    victim,
  ])
  expect(made.status).toBe(0)
  const done = unpack(readFileSync(join(victim, 'sparse.tar')))
  expect(done.status).toBe(1)
  expect(done.said).toMatch(/larger than 16 GiB/)
})
