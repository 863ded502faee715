/** Requests for files: paths and names of any bytes, ranges, cursors, tars that are damaged, and uploads that break. */
import { execFileSync } from 'node:child_process'
import { encodeNameForUrl, nameOfBytes } from '@dock/contract'
import fc from 'fast-check'
import type { DockRequest } from './dock-request.ts'

export const folder = '/home/user/fuzz'

/** Makes what the paths lead to, in an empty folder. */
export const prepareFolder = `
sudo rm -rf ${folder}
mkdir -p ${folder}/folder/deep/deeper ${folder}/locked && cd ${folder}
echo text >file; : >empty; head -c 300000 /dev/urandom >large; truncate -s 1T sparse
mkfifo pipe; ln -s file link; ln -s loop-b loop-a; ln -s loop-a loop-b; ln -s / root; ln -s absent dangling
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
for n in $(seq 300); do : >folder/$n; done
echo secret >locked/file; chmod 0 locked`

const longest = 'a'.repeat(255)
const known = [
  ...['file', 'empty', 'large', 'sparse', 'pipe', 'link', 'loop-a', 'root', 'dangling', 'socket', 'folder'],
  ...['folder/deep', 'folder/1', 'locked', 'locked/file', 'absent', 'absent/x', 'file/x', 'root/etc/passwd'],
]
const elsewhere = [
  ...['/', '//', '/.', '/..', '/proc', '/proc/self/mem', '/proc/self/fd/0', '/proc/1/root', '/proc/kcore'],
  ...[
    '/dev/zero',
    '/dev/full',
    '/dev/null',
    '/dev/stdin',
    '/dev/pts/ptmx',
    '/sys',
    '/etc/shadow',
    '/tmp',
    '/run',
  ],
  ...['/root', '/usr/bin/perl', `/${longest}a`, '/a'.repeat(2047), '/'.repeat(4096)],
]

const bytesOfSegment = fc
  .uint8Array({ min: 1, max: 255, minLength: 1, maxLength: 260 })
  .map((bytes) => nameOfBytes(bytes.map((byte) => (byte === 0x2f ? 0x2e : byte))))
const segment = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...known) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('.', '..', '', '-rf', '--', '*', '~', '$(id)', 'a\nb', ' ', longest),
  },
  { weight: 1, arbitrary: bytesOfSegment },
)
const path = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(segment, { minLength: 1, maxLength: 3 })
      .map((segments) => `${folder}/${segments.join('/')}`),
  },
  { weight: 1, arbitrary: fc.constantFrom(...elsewhere) },
)

const size = fc.oneof(
  fc.nat(400_000),
  fc.constantFrom(0, 1, 2 ** 31, 2 ** 32, 2 ** 40, 2 ** 53, '99999999999999999999', '-1', ''),
)
const range = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(size, size).map(([first, last]) => `bytes=${first}-${last}`) },
  { weight: 1, arbitrary: fc.constantFrom('bytes=', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=a-b', 'bytes=5-2') },
)

const tar = execFileSync('bash', [
  '-c',
  `cd "$(mktemp -d)"; mkdir -p a/b; echo x >a/b/c; ln -s ../../../../etc e; ln a/b/c hard; mkfifo p; chmod 0 a/b
   tar -cP --transform 's,^hard,../../escaped,' a e hard p | cat; rm -rf "$PWD"`,
])
/** A tar with some of its bytes changed. */
const damagedTar = fc
  .array(fc.tuple(fc.nat(tar.length - 1), fc.nat(255)), { maxLength: 12 })
  .map((changes) => {
    const damaged = Buffer.from(tar)
    for (const [at, byte] of changes) damaged[at] = byte
    return damaged
  })
const bytes = fc.oneof(
  { weight: 4, arbitrary: fc.uint8Array({ maxLength: 2_000 }).map((all) => Buffer.from(all)) },
  { weight: 1, arbitrary: fc.nat(2 ** 20).map((length) => Buffer.alloc(length, 'x')) },
)

const base = { headers: {}, body: null, cutAt: null, readMax: 2 ** 20 } as const
const cut = fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(20_000) })
const search = (text: string): string => `path=${encodeNameForUrl(text)}`
const json = (value: object): Pick<DockRequest, 'headers' | 'body'> => ({
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(value)),
})
const mode = fc.constantFrom(undefined, '000', '644', '7777', '888', '')

const read = fc
  .record({
    path,
    range: fc.option(range),
    asTar: fc.integer({ min: 0, max: 3 }),
    isHead: fc.integer({ min: 0, max: 5 }),
    readMax: fc.nat(2 ** 20),
  })
  .map(
    (made): DockRequest => ({
      ...{ ...base, route: 'readDockFile', path: `/files?${search(made.path)}`, readMax: made.readMax },
      headers: {
        ...(made.range === null ? {} : { range: made.range }),
        ...(made.asTar === 0 ? { accept: 'application/x-tar' } : {}),
      },
      isHead: made.isHead === 0,
    }),
  )
const write = fc.record({ path, mode, body: bytes, cutAt: cut }).map(
  (made): DockRequest => ({
    ...{ ...base, route: 'writeDockFile', body: made.body, cutAt: made.cutAt },
    path: `/files?${search(made.path)}${made.mode === undefined ? '' : `&mode=${made.mode}`}`,
  }),
)
const unpack = fc
  .record({ path, body: fc.oneof({ weight: 4, arbitrary: damagedTar }, bytes), cutAt: cut })
  .map(
    (made): DockRequest => ({
      ...{ ...base, route: 'writeDockFile', path: `/files?${search(made.path)}` },
      ...{ body: made.body, cutAt: made.cutAt, headers: { 'content-type': 'application/x-tar' } },
    }),
  )
const remove = fc.record({ path, recursive: fc.constantFrom('true', 'false', 'x') }).map(
  (made): DockRequest => ({
    ...{ ...base, route: 'deleteDockFile' },
    path: `/files?${search(made.path)}&recursive=${made.recursive}`,
  }),
)
const list = fc
  .record({
    path,
    limit: fc.constantFrom('1', '7', '1000', '0', 'x'),
    cursor: fc.option(fc.uint8Array({ minLength: 1, maxLength: 300 })),
  })
  .map((made): DockRequest => {
    const cursor = made.cursor === null ? '' : `&cursor=${Buffer.from(made.cursor).toString('hex')}`
    return {
      ...{ ...base, route: 'listDockFiles' },
      path: `/files/list?${search(made.path)}&limit=${made.limit}${cursor}`,
    }
  })
const makeFolder = fc
  .record({ path, mode, parents: fc.boolean() })
  .map((body): DockRequest => ({ ...base, route: 'makeDockFolder', path: '/files/mkdir', ...json(body) }))
const move = fc
  .record({ from: path, to: path, overwrite: fc.boolean() })
  .map((body): DockRequest => ({ ...base, route: 'moveDockFile', path: '/files/move', ...json(body) }))
const watch = fc.record({ path, recursive: fc.boolean() }).map(
  (made): DockRequest => ({
    ...{ ...base, route: 'watchDockFiles', readMax: 1 },
    path: `/files/watch?${search(made.path)}&recursive=${made.recursive}`,
  }),
)

export const fileRequest: fc.Arbitrary<DockRequest> = fc.oneof(
  { weight: 6, arbitrary: read },
  { weight: 5, arbitrary: write },
  { weight: 5, arbitrary: unpack },
  { weight: 2, arbitrary: remove },
  { weight: 4, arbitrary: list },
  { weight: 2, arbitrary: makeFolder },
  { weight: 3, arbitrary: move },
  { weight: 1, arbitrary: watch },
)
