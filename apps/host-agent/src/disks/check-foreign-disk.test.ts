/** Disks that a hostile host or guest could send, made with the real tools. Needs root, because one is mounted. */
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, open, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkForeignDisk, HostileDisk } from './check-foreign-disk.ts'
import { diskPath, runOnDisk, usualDiskLimits } from './run-on-disk.ts'

const mebibyte = 2 ** 20
let folder: string
let disk: string

const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' })
const debugfs = (...commands: string[]): void => {
  const { status, stderr } = spawnSync('debugfs', ['-w', '-f', '-', disk], { input: commands.join('\n') })
  if (status !== 0) throw new Error(String(stderr))
}
const makeDisk = (...options: string[]): string =>
  run('mkfs.ext4', '-q', '-F', '-b', '4096', '-J', 'size=4', ...options, disk, '64m')
const e2fsckSays = (): number | null => spawnSync('e2fsck', ['-f', '-n', disk]).status
const asImage = () => checkForeignDisk(disk, { afterPowerCut: false })
const asCapture = () => checkForeignDisk(disk, { afterPowerCut: true })
const overwrite = async (at: number, bytes: Buffer): Promise<void> => {
  const file = await open(disk, 'r+')
  await file.write(bytes, 0, bytes.length, at)
  await file.close()
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-foreign-'))
  disk = join(folder, 'disk.raw')
  const tree = join(folder, 'tree')
  await mkdir(join(tree, 'a', 'b'), { recursive: true })
  for (const name of ['one', 'two']) await writeFile(join(tree, 'a', name), name.repeat(20_000))
  makeDisk('-d', tree)
})
afterEach(() => rm(folder, { recursive: true }))

const refusedAsBoth = async (reason: RegExp): Promise<void> => {
  for (const check of [asImage, asCapture]) {
    await expect(check()).rejects.toThrow(HostileDisk)
    await expect(check()).rejects.toThrow(reason)
  }
}

it('accepts a disk made by mkfs and debugfs, and does not change it', async () => {
  const before = run('sha256sum', disk)
  await asImage()
  await asCapture()
  expect(run('sha256sum', disk)).toBe(before)
})

describe('refuses a superblock that e2fsck accepts but that has', () => {
  it.each<[string, () => unknown, RegExp]>([
    ['a panic of the kernel on errors', () => run('tune2fs', '-e', 'panic', disk), /panic/],
    ['options of its mount', () => run('tune2fs', '-E', 'mount_opts=errors=panic', disk), /mount options/],
    ['a feature of another kind of disk', () => makeDisk('-O', 'encrypt'), /features/],
    ['data in inodes', () => makeDisk('-O', 'inline_data'), /features/],
    ['other blocks', () => run('mkfs.ext4', '-q', '-F', '-b', '1024', disk, '64m'), /block size/],
  ])('%s', async (_, spoil, reason) => {
    spoil()
    expect(e2fsckSays()).toBe(0)
    await refusedAsBoth(reason)
  })

  it('a journal on another device', async () => {
    debugfs('set_super_value journal_dev 0x0801', 'set_super_value journal_inum 0')
    await refusedAsBoth(/journal/)
  })
})

describe('refuses a damaged filesystem:', () => {
  it('blocks that belong to two files', async () => {
    debugfs('set_inode_field /a/two block[5] 1234', 'set_inode_field /a/two mode 0100644')
    const extent = run('debugfs', '-R', 'ex /a/one', disk)
    const first = Number(/(\d+) - /.exec(extent.split('\n')[1]!.slice(30))?.[1])
    expect(first).toBeGreaterThan(0)
    debugfs(`set_inode_field /a/two block[5] ${first}`)
    await refusedAsBoth(/e2fsck/)
  })

  it('a folder inside itself', async () => {
    debugfs('cd a/b', 'link <2> loop')
    await refusedAsBoth(/e2fsck/)
  })

  it('random bytes instead of inodes', async () => {
    const at = /Inode table at (\d+)/.exec(run('dumpe2fs', disk))?.[1]
    await overwrite(Number(at) * 4096 + 512, Buffer.alloc(64 * 1024, 0xa5))
    await refusedAsBoth(/e2fsck/)
  })

  it('a filesystem larger than its disk', async () => {
    await truncate(disk, 32 * mebibyte)
    await refusedAsBoth(/larger than its disk/)
  })

  it('no filesystem at all', async () => {
    await overwrite(0, Buffer.alloc(1 * mebibyte, 'x'))
    await refusedAsBoth(/not ext4/)
  })
})

it('replays the journal of a capture after a power cut, and refuses an image with such a journal', async () => {
  const mount = join(folder, 'mount')
  const live = disk
  disk = join(folder, 'cut.raw')
  await mkdir(mount)
  run('mount', '-o', 'loop', live, mount)
  try {
    await writeFile(join(mount, 'kept'), 'kept')
    run('sync', '-f', mount)
    await copyFile(live, disk)
  } finally {
    run('umount', mount)
  }
  expect(run('dumpe2fs', '-h', disk)).toContain('needs_recovery')
  await expect(asImage()).rejects.toThrow(HostileDisk)
  await asCapture()
  expect(e2fsckSays()).toBe(0)
  expect(run('debugfs', '-R', 'cat /kept', disk)).toBe('kept')
  expect(run('stat', '-c', '%a', disk).trim()).toBe('644')
})

describe('the program that reads a foreign disk', () => {
  // It cannot start other programs, so these are one program each.
  const shell = (script: string, limits = usualDiskLimits) =>
    runOnDisk('sh', ['-c', script], disk, { limits })

  it('reads the disk, and can write to it only if allowed', async () => {
    expect((await shell(`exec wc -c ${diskPath}`)).output).toContain(`${64 * mebibyte} ${diskPath}`)
    const script = `echo x 1<>${diskPath} && echo wrote`
    expect((await shell(script)).output).not.toContain('wrote')
    expect((await runOnDisk('sh', ['-c', script], disk, { write: true })).output).toContain('wrote')
  })

  it('is killed when it takes too long', async () => {
    const sleeping = await shell('exec sleep 60', { ...usualDiskLimits, deadlineMs: 200 })
    expect(sleeping.signal).toBe('SIGKILL')
    const busy = await shell('while :; do :; done', { ...usualDiskLimits, cpuSeconds: 1 })
    expect(busy.code === 137 || busy.signal !== null).toBe(true)
  })

  it('gets no more memory than its limit', async () => {
    const hog = 'x=x; n=1; while [ $n -le 100000000 ]; do x=$x$x; n=$((n * 2)); done; echo $n'
    const length = String(2 ** 27)
    expect((await shell(hog)).output).toContain(length)
    expect((await shell(hog, { ...usualDiskLimits, memoryBytes: 100 * mebibyte })).output).not.toContain(
      length,
    )
  })

  it('refuses a disk that e2fsck cannot check within its limits', async () => {
    await expect(
      checkForeignDisk(disk, {
        afterPowerCut: true,
        limits: { ...usualDiskLimits, memoryBytes: 3 * mebibyte },
      }),
    ).rejects.toThrow(HostileDisk)
  })

  it('keeps only a limited part of its output', async () => {
    const { output } = await shell('exec yes', { ...usualDiskLimits, deadlineMs: 500 })
    expect(output.length).toBe(4_096)
  })
})
