/** On a real btrfs pool in a loop file, with a small image made here. Needs root and a kernel with btrfs. */
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createLogger } from '@dock/foundation'
import { diskBytesOf } from '@dock/host-protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { NotRegularFile } from './capture-reader.ts'
import { HostileDisk } from './check-foreign-disk.ts'
import { limitDeviceDirtyMemory, limitDirtyMemory } from './dirty-memory.ts'
import { createDiskPool } from './disk-pool.ts'
import type { DiskSystem } from './disk-system.ts'
import { readMountTable } from './mount-table.ts'
import { openDiskSystem } from './open-disk-system.ts'
import { type DiskPool, NoSpace, NotInPool } from './pool.ts'
import { preparePool } from './prepare-pool.ts'
import { DiskTooSmall } from './resize-disk.ts'
import type { FillingDisk } from './write-new-disk.ts'

vi.mock('./dirty-memory.ts', { spy: true })

/** Long, because other tests on this machine make mount namespaces, which hold a copy of a mounted disk until they end. */
const releaseDeadlineMs = 60_000

/** Generous, because btrfs frees the space of removed disks only after a while. */
const poolBytes = 8 * 2 ** 30

const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' })
const logger = createLogger('disk-pool-test')
let host: string
let poolDir: string
let mountsDir: string
let pool: DiskPool
let system: DiskSystem

const makeImage = async (): Promise<void> => {
  const tree = join(host, 'tree')
  await mkdir(join(tree, 'etc'), { recursive: true })
  await writeFile(join(tree, 'etc', 'name'), 'image')
  await mkdir(join(poolDir, 'images'), { recursive: true })
  await system.createSubvolume(join(poolDir, 'images', 'small'))
  const disk = join(poolDir, 'images', 'small', 'disk.raw')
  await writeFile(disk, '')
  run('chattr', '+C', disk)
  run('truncate', '-s', String(diskBytesOf(1)), disk)
  run('mkfs.ext4', '-q', '-F', '-m', '0', '-J', 'size=8', '-d', tree, disk)
}

const newPool = (reserveBytes = 2 ** 20) =>
  createDiskPool({ poolDir, mountsDir, logger, reserveBytes, releaseDeadlineMs })

const dock = async (id: string, diskGiB = 1): Promise<string> => {
  await pool.create(id, { from: { image: 'small' }, diskGiB })
  return (await pool.attach(id)).rootPath
}

beforeAll(async () => {
  host = await mkdtemp(join(tmpdir(), 'dock-pool-'))
  poolDir = await preparePool(host, { sizeBytes: poolBytes })
  mountsDir = join(host, 'mounts')
  system = await openDiskSystem(logger)
  await makeImage()
  pool = newPool()
  await pool.recover()
})

afterEach(async () => {
  const { disks, captures } = await pool.list()
  for (const id of disks) await pool.remove(id)
  for (const id of captures) await pool.removeCapture(id)
})

afterAll(async () => {
  run('umount', poolDir)
  await rm(host, { recursive: true })
})

describe('create and attach', () => {
  it('clones the image, and repeating either call changes nothing', async () => {
    const root = await dock('a')
    await writeFile(join(root, 'mine'), 'x')
    expect(await dock('a')).toBe(root)
    expect(await readFile(join(root, 'mine'), 'utf8')).toBe('x')
    expect(await readFile(join(root, 'etc', 'name'), 'utf8')).toBe('image')
    expect(await pool.list()).toEqual({ disks: ['a'], captures: [] })
    expect([...(await pool.images()).keys()]).toEqual(['small'])
  })

  it('a new disk is unneeded until a Dock uses it; the next agent reads the same, and forgets marks without a disk', async () => {
    await dock('a')
    await dock('b')
    expect([await pool.isUnneeded('a'), await pool.isUnneeded('b')]).toEqual([true, true])
    await pool.markNeeded('a')
    await pool.create('a', { from: { image: 'small' }, diskGiB: 1 })
    await pool.markUnneeded('c')
    const next = newPool()
    await next.recover()
    const marked = async (id: string) => [id, await next.isUnneeded(id)]
    expect(await Promise.all(['a', 'b', 'c'].map(marked))).toEqual([
      ...[
        ['a', false],
        ['b', true],
        ['c', false],
      ],
    ])
    await pool.capture('a', 'kept')
    await pool.markUnneeded('a')
    await pool.remove('a')
    expect(await pool.isUnneeded('a')).toBe(false)
  })

  it('mounts with nodev and nosuid, and with direct I/O', async () => {
    const root = await dock('a')
    const line = run('findmnt', '-n', '-o', 'SOURCE,OPTIONS', root)
    expect(line).toMatch(/nosuid.*nodev.*noatime.*discard/)
    const device = /loop\d+/.exec(line)?.[0]
    expect((await readFile(`/sys/block/${device}/loop/dio`, 'utf8')).trim()).toBe('1')
    expect((await readFile(`/sys/block/${device}/queue/logical_block_size`, 'utf8')).trim()).toBe('4096')
  })

  it.each([
    ['limits', true],
    ['leaves alone', false],
  ])(
    '%s the dirty memory of the machine and of a disk if the operator decides so',
    async (_, limitsDirtyMemory) => {
      vi.clearAllMocks()
      const other = createDiskPool({ poolDir, mountsDir, logger, reserveBytes: 2 ** 20, limitsDirtyMemory })
      await other.recover()
      await other.create('a', { from: { image: 'small' }, diskGiB: 1 })
      const { rootPath } = await other.attach('a')
      const device = run('findmnt', '-n', '-o', 'SOURCE', rootPath).trim().replace('/dev/', '')
      // The kernel cannot tell who limited a loop device: it keeps the limit of its former disk, also of another program.
      expect(vi.mocked(limitDirtyMemory)).toHaveBeenCalledTimes(limitsDirtyMemory ? 1 : 0)
      expect(vi.mocked(limitDeviceDirtyMemory).mock.calls).toEqual(
        limitsDirtyMemory ? [[device, logger]] : [],
      )
      if (!limitsDirtyMemory) return
      const limit = await readFile(`/sys/block/${device}/bdi/strict_limit`, 'utf8').catch(() => null)
      // Kernels before 6.2 have no strict limit.
      if (limit !== null) expect(Number(limit)).toBe(1)
    },
  )

  it('makes a disk of the requested size, and keeps the resized image for the next Dock', async () => {
    const sizeOf = (root: string) => Number(run('df', '-B1', '--output=size', root).split('\n')[1])
    const first = await dock('a', 5)
    expect(sizeOf(first) / 2 ** 30).toBeGreaterThan(5)
    expect((await stat(join(poolDir, 'docks', 'a', 'disk.raw'))).size).toBe(diskBytesOf(5))
    expect(sizeOf(await dock('b', 5))).toBe(sizeOf(first))
    expect(sizeOf(await dock('c', 1)) / 2 ** 30).toBeLessThan(1.2)
    expect(run('ls', join(poolDir, 'variants')).trim().split('\n')).toHaveLength(1)
  })

  it('limits a Dock to its disk size', async () => {
    const root = await dock('a')
    // Takes most of the room without writing.
    run('fallocate', '-l', '900M', join(root, 'bigger'))
    const file = await open(join(root, 'big'), 'w')
    const full = (async () => {
      for (let index = 0; index < 500; index++) await file.write(Buffer.alloc(2 ** 20, 1))
      await file.sync()
    })()
    await expect(full).rejects.toThrow(/ENOSPC/)
    await file.close()
  })

  it('reports what is missing, and a pool without room', async () => {
    await expect(pool.create('a', { from: { image: 'none' }, diskGiB: 1 })).rejects.toThrow(NotInPool)
    await expect(pool.create('a', { from: { captureId: 'none' }, diskGiB: 1 })).rejects.toThrow(NotInPool)
    await expect(pool.attach('a')).rejects.toThrow(NotInPool)
    const full = newPool(poolBytes)
    await expect(full.create('a', { from: { image: 'small' }, diskGiB: 1 })).rejects.toThrow(NoSpace)
    await expect(pool.create('../a', { from: { image: 'small' }, diskGiB: 1 })).rejects.toThrow(/not an id/)
    expect((await pool.list()).disks).toEqual([])
  })
})

describe('a version of an image', () => {
  it('is known of each disk that was made from it, also at another size', async () => {
    const version = join(poolDir, 'images', 'small', 'version')
    const isCurrent = () => Promise.all(['a', 'b', 'none'].map((id) => pool.isFromCurrentImage(id, 'small')))
    await dock('older')
    expect(await pool.isFromCurrentImage('older', 'small')).toBe(true)
    await writeFile(version, 'built:1')
    // A new image has a later modification time, and so gets its own variants.
    run('touch', join(poolDir, 'images', 'small', 'disk.raw'))
    try {
      await dock('a')
      await dock('b', 2)
      expect(await isCurrent()).toEqual([true, true, false])
      expect(await pool.isFromCurrentImage('older', 'small')).toBe(false)
      expect((await pool.images()).get('small')).toBe('built:1')
      await writeFile(version, 'built:2')
      expect(await isCurrent()).toEqual([false, false, false])
      expect(await pool.isFromCurrentImage('a', 'none')).toBe(false)
    } finally {
      await rm(version)
    }
  })

  const image = () => join(poolDir, 'images', 'arrived')
  const bytes = 8 * 2 ** 20
  /** A small filesystem whose label is the text. */
  const labelled = async (text: string): Promise<Buffer> => {
    const disk = join(host, 'labelled.raw')
    await rm(disk, { force: true })
    run('mkfs.ext4', '-q', '-F', '-b', '4096', '-O', '^has_journal', '-L', text, disk, `${bytes / 1024}K`)
    return readFile(disk)
  }
  const receive = async (digest: string, text: string) => {
    const disk = await labelled(text)
    await pool.receiveImage('arrived', { digest, diskBytes: bytes, fill: (into) => into.write(disk, 0) })
  }
  const content = async () =>
    (await readFile(join(image(), 'disk.raw'))).subarray(1024 + 0x78, 1024 + 0x78 + 5).toString()
  afterEach(async () => {
    if (existsSync(image())) await system.destroySubvolume(image())
  })

  it('replaces the former version when complete, and is received only once', async () => {
    await receive('sha256:1', 'first')
    expect((await pool.images()).get('arrived')).toBe('sha256:1')
    await receive('sha256:2', 'later')
    await receive('sha256:2', 'never')
    expect([(await pool.images()).get('arrived'), await content()]).toEqual(['sha256:2', 'later'])
    expect((await stat(join(image(), 'disk.raw'))).size).toBe(bytes)
    expect((await readdir(join(poolDir, 'images'))).toSorted()).toEqual(['arrived', 'small'])
  })

  it('changes nothing if its content is wrong', async () => {
    await receive('sha256:1', 'first')
    const fill = async (disk: FillingDisk): Promise<void> => {
      await disk.write(Buffer.from('wrong'), 0)
      throw new Error('damaged')
    }
    const arriving = pool.receiveImage('arrived', { digest: 'sha256:2', diskBytes: 2 ** 20, fill })
    await expect(arriving).rejects.toThrow('damaged')
    expect([(await pool.images()).get('arrived'), await content()]).toEqual(['sha256:1', 'first'])
    expect((await readdir(join(poolDir, 'images'))).toSorted()).toEqual(['arrived', 'small'])
  })

  it('changes nothing if its filesystem is refused', async () => {
    await receive('sha256:1', 'first')
    const disk = await labelled('wrong')
    disk.writeUInt16LE(3, 1024 + 0x3c)
    const arriving = pool.receiveImage('arrived', {
      digest: 'sha256:2',
      diskBytes: bytes,
      fill: (into) => into.write(disk, 0),
    })
    await expect(arriving).rejects.toThrow(HostileDisk)
    expect([(await pool.images()).get('arrived'), await content()]).toEqual(['sha256:1', 'first'])
    expect((await readdir(join(poolDir, 'images'))).toSorted()).toEqual(['arrived', 'small'])
  })

  it('is removed with its resized copies, unless it has another version by now', async () => {
    await receive('sha256:1', 'first')
    await pool.create('a', { from: { image: 'arrived' }, diskGiB: 1 })
    const folders = async () => [
      ...(await readdir(join(poolDir, 'images'))),
      ...(await readdir(join(poolDir, 'variants'))).filter((each) => each.startsWith('arrived@')),
    ]
    expect(await folders()).toHaveLength(3)
    await pool.removeImage('arrived', 'sha256:2')
    expect(await folders()).toHaveLength(3)
    await pool.removeImage('arrived', 'sha256:1')
    await pool.removeImage('arrived', 'sha256:1')
    expect(await folders()).toEqual(['small'])
    expect(await pool.has('a')).toBe(true)
    await pool.remove('a')
  })

  it('leaves nothing incomplete when the agent is killed while receiving it', async () => {
    await receive('sha256:1', 'first')
    for (const name of ['.new-arrived', '.new-former-arrived'])
      await system.createSubvolume(join(poolDir, 'images', name))
    await newPool().recover()
    expect((await readdir(join(poolDir, 'images'))).toSorted()).toEqual(['arrived', 'small'])
    expect(await content()).toBe('first')
  })

  it('is named after its recipe if it was built here', async () => {
    expect((await pool.images()).get('small')).toBe('built:')
    await writeFile(join(poolDir, 'images', '.small.from'), 'small-amd64-0123.tar.zst\n')
    expect((await pool.images()).get('small')).toBe('built:small-amd64-0123.tar.zst')
    await rm(join(poolDir, 'images', '.small.from'))
  })
})

describe('detach and remove', () => {
  it('leave no mount, device or folder, and can be repeated', async () => {
    const root = await dock('a')
    const device = run('findmnt', '-n', '-o', 'SOURCE', root).trim().replace('/dev/', '')
    await pool.detach('a')
    await pool.detach('a')
    expect(existsSync(`/sys/fs/ext4/${device}`)).toBe(false)
    expect(run('losetup', '-n', '-O', 'BACK-FILE')).not.toContain(join(poolDir, 'docks', 'a'))
    expect(existsSync(root)).toBe(false)
    await pool.remove('a')
    await pool.remove('a')
    expect(await pool.has('a')).toBe(false)
  })

  it('keep the data that was written', async () => {
    await writeFile(join(await dock('a'), 'kept'), 'yes')
    await pool.detach('a')
    expect(await readFile(join((await pool.attach('a')).rootPath, 'kept'), 'utf8')).toBe('yes')
  })
})

describe('capture', () => {
  it('contains whole records of a writer that does not pause', async () => {
    const root = await dock('a')
    const record = `${'r'.repeat(4095)}\n`
    let writing = true
    const writer = (async () => {
      while (writing) await appendFile(join(root, 'log'), record)
    })()
    for (const id of ['c1', 'c2', 'c3']) await pool.capture('a', id)
    writing = false
    await writer
    for (const id of ['c1', 'c2', 'c3']) {
      await pool.create(`from-${id}`, { from: { captureId: id }, diskGiB: 1 })
      run('e2fsck', '-fn', join(poolDir, 'docks', `from-${id}`, 'disk.raw'))
      const text = await readFile(join((await pool.attach(`from-${id}`)).rootPath, 'log'), 'utf8')
      expect(text.replaceAll(record, '')).toMatch(/^r*$/)
    }
  })

  it('is read-only, unchanged by later writes, and the same when repeated', async () => {
    const root = await dock('a')
    await writeFile(join(root, 'state'), 'before')
    const { sizeBytes } = await pool.capture('a', 'c')
    expect(sizeBytes).toBeGreaterThan(0)
    await writeFile(join(root, 'state'), 'after!')
    expect(await pool.capture('a', 'c')).toEqual({ sizeBytes })
    await expect(open(join(poolDir, 'captures', 'c', 'disk.raw'), 'r+')).rejects.toThrow(/EROFS/)
    const { stream } = await pool.readFile('c', '/state')
    expect((await buffer(stream)).toString()).toBe('before')
  })

  it('of a detached disk can be cloned to another size, down to what the data needs', async () => {
    await writeFile(join(await dock('a', 2), 'mine'), 'x')
    await pool.detach('a')
    await pool.capture('a', 'c')
    await pool.create('smaller', { from: { captureId: 'c' }, diskGiB: 1 })
    expect(await readFile(join((await pool.attach('smaller')).rootPath, 'mine'), 'utf8')).toBe('x')
    const root = (await pool.attach('a')).rootPath
    run('fallocate', '-l', '1200M', join(root, 'big'))
    await pool.capture('a', 'full')
    const small = pool.create('b', { from: { captureId: 'full' }, diskGiB: 1 })
    await expect(small).rejects.toThrow(DiskTooSmall)
    expect(run('ls', '-A', join(poolDir, 'docks'))).not.toContain('.new-')
  })
})

describe('reading a capture', () => {
  it('lists regular files and follows no link to the host', async () => {
    const root = await dock('a')
    const odd = 'with "quotes" and spaces'
    await mkdir(join(root, 'deep', 'er'), { recursive: true })
    await writeFile(join(root, 'deep', 'er', odd), '12345')
    await chmod(join(root, 'deep'), 0o700)
    await symlink('/etc/shadow', join(root, 'link'))
    await symlink('/etc', join(root, 'folder-link'))
    await symlink('../../../../../../../etc', join(root, 'up'))
    await pool.capture('a', 'c')
    const files = (await Array.fromAsync(pool.walk('c'))).flat().map(({ path, size }) => ({ path, size }))
    expect(files).toHaveLength(2)
    expect(files).toContainEqual({ path: `/deep/er/${odd}`, size: 5 })
    expect(files).toContainEqual({ path: '/etc/name', size: 5 })
    const read = async (path: string) => (await buffer((await pool.readFile('c', path)).stream)).toString()
    expect(await read(`/deep/er/${odd}`)).toBe('12345')
    await expect(read('/link')).rejects.toThrow(NotRegularFile)
    await expect(read('/deep')).rejects.toThrow(NotRegularFile)
    for (const path of ['/folder-link/hostname', '/up/shadow', '/deep/../etc/name', 'etc/name', '/none']) {
      await expect(read(path), path).rejects.toThrow(NotInPool)
    }
    await expect(read('/etc/name\nls')).rejects.toThrow(NotInPool)
    await expect(read('<2>')).rejects.toThrow(NotInPool)
    await expect(Array.fromAsync(pool.walk('none'))).rejects.toThrow(NotInPool)
  })

  it('compares two captures without reading the blocks that they share', async () => {
    const root = await dock('a')
    await writeFile(join(root, 'big'), randomBytes(16 * 2 ** 20))
    await writeFile(join(root, 'small'), 'before')
    await pool.capture('a', 'c')
    await writeFile(join(root, 'small'), 'after!')
    await pool.capture('a', 'd')
    const { changes, bytesRead, nextCursor } = await pool.compare('c', 'd', null)
    expect(changes.map(({ path, differences }) => [path, ...differences])).toEqual([['/small', 'contents']])
    expect(nextCursor).toBeNull()
    expect(bytesRead).toBeLessThan(2 ** 20)
    await expect(pool.compare('c', 'none', null)).rejects.toThrow(NotInPool)
  })

  it('writes a name that is not UTF-8 with percent signs, and finds the file by it', async () => {
    const root = await dock('a')
    await writeFile(
      Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9]), Buffer.from('-é')]),
      'latin',
    )
    await writeFile(join(root, '%41'), 'literal')
    await pool.capture('a', 'c')
    const paths = (await Array.fromAsync(pool.walk('c'))).flat().map(({ path }) => path)
    expect(paths).toContain('/caf%E9-é')
    expect(paths).toContain('/%41')
    const read = async (path: string) => (await buffer((await pool.readFile('c', path)).stream)).toString()
    expect(await read('/caf%E9-é')).toBe('latin')
    expect(await read('/%41')).toBe('literal')
  })

  it('keeps output for a reader that starts late', async () => {
    await dock('a')
    await pool.capture('a', 'c')
    const { size, stream } = await pool.readFile('c', '/etc/name')
    // The child leaves the process table once this process has handled its end.
    const children = () => readFile(`/proc/self/task/${process.pid}/children`, 'utf8')
    await vi.waitUntil(async () => (await children()).trim() === '', { timeout: 60_000 })
    expect((await buffer(stream)).toString()).toBe('image')
    expect(size).toBe(5)
  })

  it('reads a large file byte for byte', async () => {
    const content = Buffer.alloc(9 * 2 ** 20 + 17, 'abcdefg')
    await writeFile(join(await dock('a'), 'large'), content)
    await pool.capture('a', 'c')
    const { size, stream } = await pool.readFile('c', '/large')
    expect(size).toBe(content.length)
    expect((await buffer(stream)).equals(content)).toBe(true)
  })
})

describe('recover', () => {
  it('thaws disks that a dead process left frozen, removes incomplete ones, keeps the rest', async () => {
    const root = await dock('a')
    await system.freeze(root)
    await system.snapshot(join(poolDir, 'images', 'small'), join(poolDir, 'docks', '.new-b'), false)
    const next = newPool()
    await next.recover()
    await writeFile(join(root, 'alive'), 'yes')
    expect(await next.list()).toEqual({ disks: ['a'], captures: [] })
    expect(existsSync(join(poolDir, 'docks', '.new-b'))).toBe(false)
    expect((await readFile('/sys/kernel/rcu_expedited', 'utf8')).trim()).toBe('0')
  })

  it('mounts a read-only pool again, and refuses disks and captures until then', async () => {
    await writeFile(join(await dock('a'), 'kept'), 'yes')
    await pool.detach('a')
    expect(pool.isReadOnly()).toBe(false)
    const other = spawn('unshare', ['--mount', '--propagation', 'private', 'sleep', '600'])
    onTestFinished(() => void other.kill())
    await expect.poll(() => readFile(`/proc/${other.pid}/comm`, 'utf8')).toBe('sleep\n')
    run('mount', '-o', 'remount,ro', poolDir)
    expect(pool.isReadOnly()).toBe(true)
    await expect(pool.capture('a', 'c')).rejects.toThrow(NoSpace)
    await expect(pool.create('b', { from: { image: 'small' }, diskGiB: 1 })).rejects.toThrow(NoSpace)
    // A disk that could not be detached.
    const rootPath = join(mountsDir, 'a')
    await mkdir(rootPath, { recursive: true })
    run('mount', '-o', 'ro,loop', join(poolDir, 'docks', 'a', 'disk.raw'), rootPath)
    pool = newPool()
    await pool.recover()
    expect(pool.isReadOnly()).toBe(false)
    expect((await readMountTable(String(other.pid))).get(poolDir)).toMatchObject({ isReadOnly: false })
    expect(existsSync(join(rootPath, 'kept'))).toBe(false)
    await pool.attach('a')
    expect(await readFile(join(rootPath, 'kept'), 'utf8')).toBe('yes')
    await pool.capture('a', 'c')
  })

  it('mounts the pool again after a restart of the machine', async () => {
    await writeFile(join(await dock('a'), 'kept'), 'yes')
    await pool.detach('a')
    run('umount', poolDir)
    pool = newPool()
    await pool.recover()
    expect((await pool.list()).disks).toEqual(['a'])
    expect(pool.room().totalBytes).toBe(poolBytes)
  })
})
