/**
 * Measures a host's captures, copies and file lists on real disks, without sandboxes and without a link.
 *
 *   script/bench snapshots [PART …]     parts: capture copy tree; the default is all
 *
 * DOCK_BENCH_COUNT (20) sets the number of captures. DOCK_BENCH_LARGE=1 adds a disk with 5 GB.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chunkBytes, decodeChunks, newCopyKeys, openChunk } from '@dock/copy-format'
import { createLogger } from '@dock/foundation'
import { diskBytesOf } from '@dock/host-protocol'
import { nameChunks, sealChunks } from '../apps/host-agent/src/disks/copies/copy-capture.ts'
import { fillDisk } from '../apps/host-agent/src/disks/copies/restore-capture.ts'
import { createDiskPool } from '../apps/host-agent/src/disks/disk-pool.ts'
import { openDiskSystem } from '../apps/host-agent/src/disks/open-disk-system.ts'
import { preparePool } from '../apps/host-agent/src/disks/prepare-pool.ts'
import { removePools } from '../tests/storage/disk-host.ts'
import { compare, sample } from './figures.ts'
import { print } from './parts/bench-server.ts'

const count = Number(process.env.DOCK_BENCH_COUNT ?? 20)
const diskGiB = 8
const pace = { bytesPerSecond: 2 ** 40 }
const keys = newCopyKeys()
const shell = (cwd: string, script: string) => promisify(execFile)('bash', ['-ec', script], { cwd })
const noise = (gigabytes: number): string => `head -c ${gigabytes}000000000 /dev/urandom > noise; sync noise`
const perSecond = (bytes: number, ms: number): string => `${(bytes / 1000 / ms).toFixed(0)} MB/s`
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

const logger = createLogger('bench-snapshots')
logger.level = 'silent'
const folder = await mkdtemp(join(tmpdir(), 'dock-bench-'))
const poolDir = await preparePool(folder, { sizeBytes: 32 * 2 ** 30 })
const image = join(poolDir, 'images/empty')
await mkdir(join(poolDir, 'images'), { recursive: true })
await (await openDiskSystem(logger)).createSubvolume(image)
await writeFile(join(image, 'disk.raw'), '')
await shell(
  image,
  `chattr +C disk.raw; truncate -s ${diskBytesOf(diskGiB)} disk.raw; mkfs.ext4 -q -F -m 0 -J size=64 disk.raw`,
)
const pool = createDiskPool({ poolDir, mountsDir: join(folder, 'mounts'), logger })
await pool.recover()

/** Creates and mounts a disk. Returns its mount point. */
const disk = async (id: string): Promise<string> => {
  await pool.create(id, { from: { image: 'empty' }, diskGiB })
  return (await pool.attach(id)).rootPath
}

/** Measures captures while a neighbor writes and deletes files. */
const benchCapture = async (): Promise<void> => {
  const churn =
    'while :; do mkdir d; for i in $(seq 200); do head -c 250000 /dev/urandom > d/$i; done; rm -r d; done'
  const neighbour = spawn('bash', ['-c', churn], {
    cwd: await disk('neighbour'),
    stdio: 'ignore',
    detached: true,
  })
  for (const gigabytes of process.env.DOCK_BENCH_LARGE === '1' ? [0, 1, 5] : [0, 1]) {
    const id = `holds-${gigabytes}`
    const root = await disk(id)
    if (gigabytes > 0) await shell(root, noise(gigabytes))
    const capture = (index: number) => pool.capture(id, `${id}-${index}`).then(() => undefined)
    print(
      `${compare(await sample(`capture, ${gigabytes} GB on the disk`, count, capture), undefined)}   wanted p50 50`,
    )
    for (let index = 0; index < count; index++) await pool.removeCapture(`${id}-${index}`)
    await pool.remove(id)
  }
  process.kill(-neighbour.pid!, 'SIGKILL')
  await once(neighbour, 'exit')
}

const namesOf = async (captureId: string): Promise<Map<number, string>> => {
  const names = new Map<number, string>()
  for await (const part of nameChunks(await pool.captureFile(captureId), keys, pace))
    if ('index' in part) names.set(part.index, part.name)
  return names
}

const benchCopy = async (): Promise<void> => {
  const root = await disk('copied')
  await shell(root, noise(1))
  await pool.capture('copied', 'first')
  await shell(root, 'head -c 50000000 /dev/urandom > changed; sync changed')
  await pool.capture('copied', 'second')
  const before = new Set((await namesOf('first')).values())
  const second = await namesOf('second')
  const added = [...second].flatMap(([index, name]) => (before.has(name) ? [] : [index]))
  const seal = async (wanted: number[]): Promise<Buffer[]> =>
    Array.fromAsync(sealChunks(await pool.captureFile('second'), keys, wanted, pace))
  const sent = (await seal(added)).reduce((sum, { length }) => sum + length, 0)
  print(
    `copy of 50 MB changed: ${(sent / 1e6).toFixed(1)} MB in ${added.length} chunks, ${(sent / 50e6).toFixed(2)} of it`,
  )

  const bytes = second.size * chunkBytes
  const begin = performance.now()
  const frames = await seal([...second.keys()])
  print(`sealing ${perSecond(bytes, performance.now() - begin)}`)
  async function* stream(): AsyncGenerator<Buffer> {
    yield* frames
  }
  const opening = await timed(async () => {
    for await (const { name, bytes: sealed } of decodeChunks(stream())) await openChunk(keys, name, sealed)
  })
  const restoring = await timed(() =>
    pool.restoreCapture('third', diskBytesOf(diskGiB), (file) =>
      fillDisk(file, diskBytesOf(diskGiB), keys, stream()),
    ),
  )
  print(
    `restore ${perSecond(bytes, restoring)}; decrypting, decompressing and verifying alone ${perSecond(bytes, opening)}`,
  )
}

const benchTree = async (): Promise<void> => {
  await shell(
    await disk('many'),
    'for d in $(seq 30); do mkdir $d; (cd $d; seq 1000 | split -l 1 -a 4); done; sync',
  )
  await pool.capture('many', 'tree')
  const walk = async (): Promise<void> => {
    if ((await Array.fromAsync(pool.walk('tree'))).length !== 30_000) throw new Error('files are missing')
  }
  print(`${compare(await sample('tree of 30,000 files', 5, walk), undefined)}   wanted 300`)
}

const parts: Readonly<Record<string, () => Promise<void>>> = {
  capture: benchCapture,
  copy: benchCopy,
  tree: benchTree,
}
const wanted = process.argv.slice(2)
try {
  for (const [name, part] of Object.entries(parts))
    if (wanted.length === 0 || wanted.includes(name)) await part()
} finally {
  await removePools(folder)
}
