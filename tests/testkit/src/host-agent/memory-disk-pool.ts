/** An in-memory disk pool for tests. It tracks which disks and captures exist. Calls can be made to fail or hang. */
import { Readable } from 'node:stream'
import { NotRegularFile } from '@dock/host-agent/src/disks/capture-reader.ts'
import { type DiskPool, NotInPool, requireRoom } from '@dock/host-agent/src/disks/pool.ts'
import { fakeDelay } from '../fake-delay.ts'

export type MemoryDiskPool = DiskPool & {
  readonly attached: ReadonlySet<string>
  /** Makes the next call of this name throw the error. */
  failNext(call: keyof DiskPool, error: Error): void
  /** Makes the next call of this name hang forever, like in an agent that dies. Resolves when the call was made. */
  hangNext(call: keyof DiskPool): Promise<void>
  setFree(bytes: number): void
  /** Makes the pool read-only, as the kernel does. `recover` makes it writable again. */
  makeReadOnly(): void
  /** Gives the image another version, as if it had been built again. */
  setImage(name: string, version: string): void
}

const captureBytes = 4096
const totalBytes = 100 * 1024 ** 3
const reserveBytes = totalBytes / 20

/** `isHeld` returns true if a process still has the Dock's disk open. */
export function createMemoryDiskPool(
  imageNames: readonly string[] = ['debian-13'],
  isHeld: (dockId: string) => boolean = () => false,
): MemoryDiskPool {
  const disks = new Set<string>()
  /** The image version from which each disk was made. */
  const madeFrom = new Map<string, string | null>()
  const captures = new Set<string>()
  const unneeded = new Set<string>()
  const images = new Map<string, string>()
  const attached = new Set<string>()
  let freeBytes = totalBytes
  let isReadOnly = false
  const failures = new Map<string, Error>()
  const hanging = new Map<string, () => void>()
  const step = async (call: keyof DiskPool): Promise<void> => {
    const delay = fakeDelay()
    if (delay) await delay
    const reached = hanging.get(call)
    hanging.delete(call)
    reached?.()
    if (reached) await new Promise(() => {})
    const error = failures.get(call)
    failures.delete(call)
    if (error) throw error
  }
  const requireIn = (set: ReadonlySet<string>, name: string) => {
    if (!set.has(name)) throw new NotInPool(`${name} is not in the pool`)
  }
  const versionOf = (image: string): string => images.get(image) ?? 'built:here'
  const detach = (dockId: string): void => {
    if (attached.has(dockId) && isHeld(dockId)) throw new Error(`the disk of ${dockId} is still open`)
    attached.delete(dockId)
  }
  return {
    attached,
    failNext: (call, error) => void failures.set(call, error),
    hangNext: (call) => new Promise((resolve) => hanging.set(call, resolve)),
    create: async (dockId, { from }) => {
      await step('create')
      if (!disks.has(dockId)) requireRoom({ totalBytes, freeBytes, reserveBytes })
      if ('image' in from) requireIn(new Set(imageNames), from.image)
      else requireIn(captures, from.captureId)
      if (!disks.has(dockId)) unneeded.add(dockId)
      if (!disks.has(dockId)) madeFrom.set(dockId, 'image' in from ? versionOf(from.image) : null)
      disks.add(dockId)
    },
    attach: async (dockId) => {
      await step('attach')
      requireIn(disks, dockId)
      attached.add(dockId)
      return { rootPath: `/memory/${dockId}` }
    },
    diskFile: async (dockId) => {
      requireIn(disks, dockId)
      return `/memory/${dockId}.raw`
    },
    writeEntries: async (dockId) => {
      await step('writeEntries')
      requireIn(attached, dockId)
    },
    detach: async (dockId) => {
      await step('detach')
      detach(dockId)
    },
    flush: async () => step('flush'),
    capture: async (dockId, captureId) => {
      await step('capture')
      if (!captures.has(captureId)) requireRoom({ totalBytes, freeBytes, reserveBytes })
      if (!captures.has(captureId)) requireIn(disks, dockId)
      captures.add(captureId)
      return { sizeBytes: captureBytes }
    },
    remove: async (dockId) => {
      await step('remove')
      detach(dockId)
      disks.delete(dockId)
      unneeded.delete(dockId)
    },
    removeCapture: async (captureId) => void captures.delete(captureId),
    usage: async () => ({ usedBytes: 1024, sizeBytes: 2 * 1024 ** 3 }),
    has: async (dockId) => disks.has(dockId),
    markUnneeded: async (dockId) => {
      await step('markUnneeded')
      unneeded.add(dockId)
    },
    markNeeded: async (dockId) => {
      await step('markNeeded')
      unneeded.delete(dockId)
    },
    isUnneeded: async (dockId) => unneeded.has(dockId),
    list: async () => ({ disks: [...disks], captures: [...captures] }),
    images: async () => new Map([...imageNames].map((name) => [name, versionOf(name)])),
    isFromCurrentImage: async (dockId, image) =>
      disks.has(dockId) && madeFrom.get(dockId) === versionOf(image),
    setImage: (name, version) => void images.set(name, version),
    imageFile: async (name) => {
      requireIn(new Set(imageNames), name)
      return `/memory/images/${name}`
    },
    receiveImage: async (name, { digest }) => {
      await step('receiveImage')
      images.set(name, digest)
    },
    removeImage: async (name, version) => {
      if (images.get(name) === version) images.delete(name)
    },
    room: () => ({ totalBytes, freeBytes, reserveBytes }),
    isReadOnly: () => isReadOnly,
    makeReadOnly: () => {
      isReadOnly = true
    },
    setFree: (bytes) => {
      freeBytes = bytes
    },
    async *walk(captureId) {
      requireIn(captures, captureId)
      yield [{ path: '/etc/hostname', size: 5, inode: 12 }]
    },
    listFolder: async (captureId) => {
      requireIn(captures, captureId)
      return { entries: [{ name: 'hostname', type: 'file', mode: '0644', size: 5 }], nextCursor: null }
    },
    compare: async (captureId, otherId) => {
      requireIn(captures, captureId)
      requireIn(captures, otherId)
      return { changes: [], nextCursor: null, visited: 1, bytesRead: 0, hasUnlisted: false }
    },
    readFile: async (captureId, path) => {
      if (path === '/link') throw new NotRegularFile(`not a regular file: ${path}`)
      requireIn(captures, captureId)
      if (path !== '/etc/hostname') throw new NotInPool(`${path} is not in the capture`)
      return { size: 5, stream: Readable.from([Buffer.from('dock\n')]) }
    },
    captureFile: async (captureId) => {
      requireIn(captures, captureId)
      return `/memory/captures/${captureId}`
    },
    restoreCapture: async (captureId) => {
      await step('restoreCapture')
      captures.add(captureId)
      return { sizeBytes: captureBytes }
    },
    recover: async () => {
      isReadOnly = false
    },
  }
}
