/**
 * The host's disk pool: a btrfs filesystem in which each image, Dock and capture is a subvolume with one ext4 disk. A
 * subvolume under its final name is complete. Only root can enter the folders of the pool and the mounts: the disks in
 * them are world-readable files, so that an unprivileged reader can be given one.
 */
import { mkdir, readdir, readFile, rmdir, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createSerial, type Logger } from '@dock/foundation'
import { diskBytesOf } from '@dock/host-protocol'
import { readDiskFile } from './capture-reader.ts'
import { cloneDisk, exists, partialPrefix, sizedImage } from './clone-disk.ts'
import { compareDisks, comparisonLimits } from './compare-disks.ts'
import { limitDeviceDirtyMemory, limitDirtyMemory } from './dirty-memory.ts'
import { listDiskFolder } from './disk-folder.ts'
import { createDiskMarks } from './disk-marks.ts'
import type { DiskSystem } from './disk-system.ts'
import { imagePath, listImages, readVersionFile } from './images/list-images.ts'
import { receiveImage } from './images/receive-image.ts'
import { removeImage } from './images/remove-image.ts'
import { readMountTable } from './mount-table.ts'
import { openDiskSystem } from './open-disk-system.ts'
import { type DiskPool, NoSpace, NotInPool, requireRoom } from './pool.ts'
import { createPoolRoom } from './pool-room.ts'
import { poolDevice, poolFile, preparePool } from './prepare-pool.ts'
import { resetRcuExpedited, withRcuExpedited } from './rcu-expedited.ts'
import { isReadOnly, unmountReadOnlyPool } from './read-only-pool.ts'
import { restoreDisk } from './restore-disk.ts'
import { walkTree } from './walk-tree.ts'
import { writeEntries } from './write-entries.ts'

export type DiskPoolOptions = {
  /** Mount point of the btrfs pool. Its image file is `pool.img` in the parent folder. */
  poolDir: string
  /** Folder for the mount points of the Docks' disks. */
  mountsDir: string
  logger: Logger
  /** Space that is kept free. Default max(2 GiB, 5 %). */
  reserveBytes?: number
  /** How long a detach waits for other mount namespaces to release the disk. Default 10 s. */
  releaseDeadlineMs?: number
  /** Whether the pool limits dirty memory, of the machine and of each disk. Default true. */
  limitsDirtyMemory?: boolean
}

const checked = (id: string): string => {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(id)) throw new Error(`not an id: ${id}`)
  return id
}

/** Creates the pool at `poolDir`. Call `recover` once before anything else. */
export function createDiskPool(options: DiskPoolOptions): DiskPool {
  const { poolDir, mountsDir, logger, reserveBytes, releaseDeadlineMs = 10_000 } = options
  const { limitsDirtyMemory = true } = options
  let opened: Promise<DiskSystem> | undefined
  const kernel = (): Promise<DiskSystem> => {
    opened ??= openDiskSystem(logger)
    return opened
  }
  const serial = createSerial()
  const docksDir = join(poolDir, 'docks')
  const capturesDir = join(poolDir, 'captures')
  const dockPath = (id: string) => join(docksDir, checked(id))
  const capturePath = (id: string) => join(capturesDir, checked(id))
  const mountPath = (id: string) => join(mountsDir, checked(id))
  const marks = createDiskMarks(join(poolDir, 'unneeded'))

  const room = createPoolRoom(poolDir, reserveBytes)
  const demandRoom = (): void => {
    if (isReadOnly(poolDir)) throw new NoSpace('the disk pool of this host is read-only')
    requireRoom(room())
  }

  const mounted = async (dockId: string) => (await readMountTable()).get(mountPath(dockId))

  const detach = async (dockId: string): Promise<void> => {
    const path = mountPath(dockId)
    const system = await kernel()
    const deadline = Date.now() + releaseDeadlineMs
    for (let mount = await mounted(dockId); mount; mount = await mounted(dockId)) {
      // Nothing can be written to a read-only pool. Its disks are given up, as at a loss of power.
      if (!isReadOnly(poolDir)) await system.sync(path)
      try {
        await system.unmount(path)
      } catch (error) {
        if (Date.now() > deadline) throw error
        await delay(5)
        continue
      }
      // Another mount namespace (of a sandbox that is starting or ending) may hold the filesystem a little longer.
      while (
        (await exists(`/sys/fs/ext4/${mount.device}`)) ||
        (await holds(mount.device, dockPath(dockId)))
      ) {
        if (Date.now() > deadline) throw new Error(`the disk of ${dockId} is still in use (${mount.device})`)
        await delay(2)
      }
    }
    await rmdir(path).catch(() => undefined)
  }

  const makeDisk = async (dockId: string, wanted: Parameters<DiskPool['create']>[1]): Promise<void> => {
    if (await exists(dockPath(dockId))) return
    demandRoom()
    await marks.set(dockId)
    const system = await kernel()
    const { from, diskGiB } = wanted
    const clone = (source: string) => cloneDisk(system, source, docksDir, dockId, diskBytesOf(diskGiB))
    if ('image' in from) {
      const image = imagePath(poolDir, from.image)
      const cloneImage = async (): Promise<void> => {
        if (!(await exists(join(image, 'disk.raw'))))
          throw new NotInPool(`this host has no image ${from.image}`)
        const sized = () => sizedImage(system, poolDir, image, from.image, diskGiB)
        await clone(await serial(`image ${from.image}`, sized))
      }
      // A newer version of the image may replace it at this moment.
      const isReplaced = (error: NodeJS.ErrnoException): boolean => error.code === 'ENOENT'
      return cloneImage().catch((error) => (isReplaced(error) ? cloneImage() : Promise.reject(error)))
    }
    const source = capturePath(from.captureId)
    if (!(await exists(source))) throw new NotInPool(`this host has no capture ${from.captureId}`)
    await clone(source)
  }

  const makeCapture = async (dockId: string, target: string): Promise<void> => {
    if (!(await exists(dockPath(dockId)))) throw new NotInPool(`this host has no disk of Dock ${dockId}`)
    demandRoom()
    const system = await kernel()
    const snapshot = () => system.snapshot(dockPath(dockId), target, true)
    if (!(await mounted(dockId))) return await snapshot()
    const path = mountPath(dockId)
    // Sync before the freeze: nearly all dirty data is then written without stopping the Dock.
    await system.sync(path)
    await withRcuExpedited(async () => {
      await system.freeze(path)
      try {
        await snapshot()
      } finally {
        await system.thaw(path)
      }
    })
  }

  const captured = async (captureId: string): Promise<string> => {
    const file = join(capturePath(captureId), 'disk.raw')
    if (!(await exists(file))) throw new NotInPool(`this host has no capture ${captureId}`)
    return file
  }

  const diskFile = async (dockId: string): Promise<string> => {
    const file = join(dockPath(dockId), 'disk.raw')
    if (!(await exists(file))) throw new NotInPool(`this host has no disk of Dock ${dockId}`)
    return file
  }

  /** Throws ENOENT if the disk was never attached. */
  const filesystemUsage = async (dockId: string) => {
    const { blocks, bfree, bsize } = await statfs(mountPath(dockId))
    return { usedBytes: (blocks - bfree) * bsize, sizeBytes: blocks * bsize }
  }

  return {
    create: async (dockId, wanted) => serial(checked(dockId), () => makeDisk(dockId, wanted)),

    attach: async (dockId) =>
      serial(checked(dockId), async () => {
        const rootPath = mountPath(dockId)
        if (await mounted(dockId)) return { rootPath }
        const file = await diskFile(dockId)
        await mkdir(rootPath, { recursive: true })
        const device = await (await kernel()).mount(file, rootPath)
        if (limitsDirtyMemory) await limitDeviceDirtyMemory(device, logger)
        return { rootPath }
      }),

    diskFile,

    writeEntries: (dockId, entries) => writeEntries(mountPath(dockId), entries),

    detach: async (dockId) => serial(checked(dockId), () => detach(dockId)),

    flush: async (dockId) => (await kernel()).sync(mountPath(dockId)),

    capture: async (dockId, captureId) =>
      serial(checked(dockId), async () => {
        const target = capturePath(captureId)
        if (!(await exists(target))) await makeCapture(dockId, target)
        return { sizeBytes: (await stat(join(target, 'disk.raw'))).blocks * 512 }
      }),

    remove: async (dockId) =>
      serial(checked(dockId), async () => {
        await detach(dockId)
        if (await exists(dockPath(dockId))) await (await kernel()).destroySubvolume(dockPath(dockId))
        await marks.clear(dockId)
      }),

    removeCapture: (captureId) =>
      serial(`capture ${captureId}`, async () => {
        const path = capturePath(captureId)
        if (await exists(path)) await (await kernel()).destroySubvolume(path)
      }),

    captureFile: captured,

    restoreCapture: (captureId, diskBytes, fill) =>
      serial(`capture ${captureId}`, async () => {
        const target = capturePath(captureId)
        if (!(await exists(target))) {
          demandRoom()
          await restoreDisk(await kernel(), capturesDir, captureId, diskBytes, fill, demandRoom)
        }
        return { sizeBytes: (await stat(join(target, 'disk.raw'))).blocks * 512 }
      }),

    usage: (dockId) =>
      filesystemUsage(dockId).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
        const { blocks, size } = await stat(await diskFile(dockId))
        return { usedBytes: blocks * 512, sizeBytes: size }
      }),

    has: async (dockId) => exists(join(dockPath(dockId), 'disk.raw')),
    markUnneeded: async (dockId) => marks.set(checked(dockId)),
    markNeeded: async (dockId) => marks.clearDurably(checked(dockId)),
    isUnneeded: async (dockId) => marks.has(checked(dockId)),

    async list() {
      const whole = async (folder: string) => (await readdir(folder)).filter((name) => !name.startsWith('.'))
      return { disks: await whole(docksDir), captures: await whole(capturesDir) }
    },

    images: () => listImages(poolDir),
    isFromCurrentImage: async (dockId, name) => {
      const [disk, image] = [dockPath(dockId), imagePath(poolDir, name)]
      const [made, current, ...found] = await Promise.all([
        ...[readVersionFile(disk), readVersionFile(image)],
        ...[exists(join(disk, 'disk.raw')), exists(join(image, 'disk.raw'))],
      ] as const)
      return found.every(Boolean) && made === current
    },
    imageFile: async (name) => {
      const file = join(imagePath(poolDir, name), 'disk.raw')
      if (!(await exists(file))) throw new NotInPool(`this host has no image ${name}`)
      return file
    },
    receiveImage: (name, arriving) =>
      serial(`arriving ${name}`, async () => {
        demandRoom()
        await receiveImage(await kernel(), poolDir, name, arriving, demandRoom)
      }),
    removeImage: (name, version) =>
      serial(`arriving ${name}`, async () => removeImage(await kernel(), poolDir, name, version)),
    room,
    isReadOnly: () => isReadOnly(poolDir),
    async *walk(captureId) {
      yield* walkTree(await captured(captureId))
    },
    listFolder: async (captureId, wanted) => listDiskFolder(await captured(captureId), wanted),
    compare: async (captureId, otherId, from) =>
      compareDisks([await captured(captureId), await captured(otherId)], from, comparisonLimits),
    readFile: async (captureId, path) => readDiskFile(await captured(captureId), path),

    async recover() {
      const system = await kernel()
      for (const path of (await readMountTable()).keys()) {
        if (dirname(path) === mountsDir) await system.thaw(path)
      }
      const hostDir = dirname(poolDir)
      const device = await poolDevice(poolFile(hostDir))
      const options = { poolDir, mountsDir, deadlineMs: releaseDeadlineMs }
      const namespaces = device ? await unmountReadOnlyPool({ ...options, device: basename(device) }) : []
      await preparePool(hostDir, { poolDir, namespaces })
      await mkdir(mountsDir, { recursive: true, mode: 0o700 })
      resetRcuExpedited()
      if (limitsDirtyMemory) await limitDirtyMemory(logger)
      for (const folder of ['docks', 'captures', 'images', 'variants']) {
        await mkdir(join(poolDir, folder), { recursive: true })
        for (const name of await readdir(join(poolDir, folder))) {
          if (name.startsWith(partialPrefix)) await system.destroySubvolume(join(poolDir, folder, name))
        }
      }
      await marks.recover((dockId) => exists(join(docksDir, dockId)))
    },
  }
}

/** True if a loop device still has the disk of this subvolume open. */
const holds = async (device: string, subvolume: string): Promise<boolean> => {
  const file = await readFile(`/sys/block/${device}/loop/backing_file`, 'utf8').catch(() => '')
  return file.trim() === join(subvolume, 'disk.raw')
}
