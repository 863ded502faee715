/**
 * A restore drill. Docks with several kinds of content are stopped and copied. Each copy is restored to a scratch disk
 * and compared with its capture, chunk by chunk. Controls: the restore must fail with a damaged and with a missing
 * object, and the comparison must detect one changed byte on a disk.
 * Real: control plane, PostgreSQL, link, agent, btrfs pool, ext4 disks, folder store. Fake: the sandboxes.
 */
import { execFile } from 'node:child_process'
import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { captureOf, chunkKeysOf, compareDisks, drillSnapshot, isCopied } from '../storage/restore-drill.ts'
import { createDiskDock, fillTree, startStorageProof, until } from '../storage/storage-world.ts'

const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const failures: string[] = []
const expect = (holds: boolean, what: string): void => {
  print(`${holds ? 'ok    ' : 'FAILED'} ${what}`)
  if (!holds) failures.push(what)
}
const shell = (root: string, script: string) => promisify(execFile)('bash', ['-ec', script], { cwd: root })
const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing',
    (error: unknown) => String(error),
  )

/** Each function fills a mounted disk. */
const kinds: Readonly<Record<string, (root: string) => Promise<unknown>>> = {
  'nothing at all': async () => undefined,
  'odd names, links, attributes, devices': (root) => fillTree(root, 1),
  '300 MB of noise': (root) => shell(root, 'head -c 300000000 /dev/urandom > noise'),
  'text that packs well': (root) => shell(root, 'seq 20000000 > numbers'),
  'files with holes': (root) => shell(root, 'truncate -s 900M hole; echo end >> hole; truncate -s 1T wide'),
  '20,000 small files': (root) => shell(root, 'mkdir many; cd many; seq 20000 | split -l 1 -a 5'),
  'what was deleted again': (root) =>
    shell(root, 'head -c 200000000 /dev/urandom > gone; sync; rm gone; echo left > left'),
}

const { world, end } = await startStorageProof({
  DOCK_TEST_COPY_AGE_SECONDS: '0',
  DOCK_TEST_COPY_RETRY_SECONDS: '0.2',
  DOCK_COPY_DRILL_SECONDS: '100000',
})

/** Creates, fills and stops a Dock, and waits for the copy. Returns the Snapshot's id. */
const stopped = async (name: string, fill: (root: string) => Promise<unknown>): Promise<string> => {
  const { id: dockId } = await createDiskDock(world, name)
  const params = { id: dockId }
  await fill(world.host.mountOf(dockId))
  await world.client.call('stopDock', { params, body: {} })
  const { id } = (await world.client.call('readLatestSnapshot', { params }))!
  await until('the Snapshot is copied', () => isCopied(world, id), 300_000)
  return id
}

/** Damages an object with `work`, checks that the restore fails with an error that matches `what`, and repairs it. */
const harm = async (id: string, key: string, what: RegExp, work: (path: string) => Promise<void>) => {
  const path = join(world.objects, key)
  const bytes = await readFile(path)
  await work(path)
  const said = await messageOf(drillSnapshot(world, id))
  expect(what.test(said), `the restore fails with: ${said}`)
  await writeFile(path, bytes)
  expect((await drillSnapshot(world, id)).different.length === 0, 'after the repair, it restores again')
}

try {
  let chunks = 0
  const snapshots = new Map<string, string>()
  for (const [index, [kind, fill]] of Object.entries(kinds).entries()) {
    const id = await stopped(`kind-${index}`, fill)
    const compared = await drillSnapshot(world, id)
    chunks += compared.chunks
    snapshots.set(kind, id)
    expect(
      compared.different.length === 0,
      `${kind}: ${compared.chunks} chunks restored, ${compared.different.length} differ from the capture`,
    )
  }
  print(`${snapshots.size} copies restored, ${chunks} chunks compared`)

  const id = snapshots.get('300 MB of noise')!
  const keys = await chunkKeysOf(world, id)
  const flipped = keys[Math.floor(keys.length / 2)]!
  print(`control: one byte of ${flipped} is flipped`)
  await harm(id, flipped, /ChunkDamaged/, async (path) => {
    const bytes = await readFile(path)
    const at = Math.floor(bytes.length / 2)
    bytes[at] = bytes[at]! ^ 1
    await writeFile(path, bytes)
  })
  print(`control: ${keys[0]} is missing`)
  await harm(id, keys[0]!, /ObjectMissing|does not exist/, (path) => rm(path))

  print('control: one byte of a restored disk is flipped')
  const disk = await world.restoreToScratch(id)
  const changed = join(disk, '../../../changed.raw')
  await shell('/', `cp --sparse=always ${disk} ${changed}`)
  const file = await open(changed, 'r+')
  const place = Buffer.alloc(1)
  await file.read(place, 0, 1, 100_000_000)
  await file.write(Buffer.from([place[0]! ^ 1]), 0, 1, 100_000_000)
  await file.close()
  const { different } = await compareDisks(changed, captureOf(world, id))
  expect(
    different.join() === String(Math.floor(100_000_000 / 2 ** 22)),
    `the comparison reports chunk ${different}`,
  )
} finally {
  await end()
}
print(failures.length === 0 ? 'every copy is identical to its capture' : `${failures.length} failed`)
process.exit(failures.length === 0 ? 0 : 1)
