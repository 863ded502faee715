/**
 * Distributes images. An image is built on one host and published from there once another host needs it. Its disk is copied
 * to the object store like that of a Snapshot, under keys of the instance, and its version is identified by a digest. Hosts
 * that did not build the image receive the current version.
 *
 * An operator removes an image with script/image --remove. Hosts that have a removed version are told to remove it.
 *
 * Only hosts that an operator marked as builders publish. Otherwise any host could replace the disk from which everybody's
 * Docks start, or add images to the catalog. Each pass reads the state again and is idempotent.
 */
import { ServiceError } from '@dock/contract'
import { diskDigest } from '@dock/copy-format'
import { createTimers } from '../../../engine/index.ts'
import { forgetImage, HostUnreachable, noteImage } from '../../hosts/index.ts'
import type { CopyContext } from '../copies/copy-context.ts'
import { findVerifiedCopy } from '../copies/copy-store.ts'
import { readCopy } from '../copies/restore-copy.ts'
import { takeCopy } from '../copies/take-copy.ts'
import {
  beginVersion,
  dropUnneededVersions,
  type HostImages,
  type ImageVersion,
  listBuiltImages,
  listHostImages,
  listRemoved,
  listVersions,
  saveDigest,
} from './image-store.ts'

const pollEveryMs = 60_000
/** Minimum time between passes that reports start. Many hosts report every second, and one pass covers all of them. */
export const checkIntervalMs = 2_000
const sweepEveryMs = 600_000
/** How long a version is kept at least, even if nothing needs it. */
export const versionGraceMs = 3_600_000
/** Organization id of image copies, which belong to the instance. */
const instanceId = '00000000-0000-0000-0000-000000000000'

export type Images = {
  /** Call when a host has reported. Starts a pass in the background, at most one per `checkIntervalMs`. */
  checkSoon(): void
  /** Publishes and delivers every missing image. A concurrent call joins the run and causes one more pass. */
  run(): Promise<void>
  /** Delivers an image to a host that lacks it. Throws `base_image_unavailable` if that is not possible. */
  ensureImage(name: string, hostId: string): Promise<void>
  /** Returns the images that builders have built or that were published. */
  listBuilt(): ReturnType<typeof listBuiltImages>
  /** Deletes versions that nothing needs. */
  sweep(): Promise<void>
  start(): void
  stop(): Promise<void>
}

const isImageName = (name: string): boolean => /^[a-z0-9][a-z0-9.-]{0,63}$/.test(name)
const isBuild = (version: string | undefined): version is string => version?.startsWith('built:') ?? false

export function createImages(context: CopyContext): Images {
  const { db, clock, gateway, logger } = context
  /** Builds of hosts that are not builders, for which a warning was logged. */
  const warned = new Set<string>()

  /** Returns the version that hosts receive, or undefined while none is published. */
  const currentOf = (versions: readonly ImageVersion[], name: string): ImageVersion | undefined =>
    versions.find((version) => version.name === name && version.digest !== null)

  const publish = async (hostId: string, name: string, builtAs: string): Promise<void> => {
    const id = await beginVersion(db, { name, builtAs, now: clock.now() })
    const startedAt = performance.now()
    const disk = { id, organizationId: instanceId, hostId }
    const report = await takeCopy(context, disk, {
      name: (keys) => gateway.nameImageChunks({ hostId, image: name }, { keys }),
      seal: (keys, wanted) => gateway.sealImageChunks({ hostId, image: name }, { keys, wanted: [...wanted] }),
    })
    const copy = await findVerifiedCopy(db, id)
    // Another process is publishing this version.
    if (!copy) return
    const { manifest } = await readCopy(context, copy)
    const digest = diskDigest(manifest.diskBytes, manifest.chunks)
    await saveDigest(db, id, digest)
    const ms = Math.round(performance.now() - startedAt)
    logger.info({ image: name, digest, builtAs, hostId, ...report, ms }, 'image published')
  }

  const deliver = async (hostId: string, { id, name, digest }: ImageVersion): Promise<void> => {
    const copy = await findVerifiedCopy(db, id)
    if (!copy || digest === null) throw new Error(`version ${digest} of image ${name} has no copy`)
    const startedAt = performance.now()
    const { keys, manifest, frames } = await readCopy(context, copy)
    if (diskDigest(manifest.diskBytes, manifest.chunks) !== digest)
      throw new Error(`the copy of image ${name} does not have the digest ${digest}`)
    await gateway.sendImage({ hostId, image: name }, { keys, diskBytes: manifest.diskBytes, digest }, frames)
    await noteImage(db, hostId, { name, digest })
    const ms = Math.round(performance.now() - startedAt)
    logger.info({ image: name, digest, hostId, ms }, 'image delivered')
  }

  /** Warns once per host and image: the operator may want to mark the host as builder, or may distrust it. */
  const warnOnce = (hostId: string, name: string): void => {
    if (warned.has(`${hostId} ${name}`)) return
    warned.add(`${hostId} ${name}`)
    logger.warn(
      { hostId, image: name },
      'an image is not published, because the host that built it is not a builder. Mark builders with script/admin builders',
    )
  }

  /** Returns builds that are not published and that another host lacks. */
  const unpublished = (hosts: readonly HostImages[], versions: readonly ImageVersion[]) => {
    const found = new Map<string, { hostId: string; name: string; builtAs: string }>()
    for (const { id, isBuilder, versions: had } of hosts)
      for (const [name, builtAs] of Object.entries(had)) {
        if (!isBuild(builtAs) || !isImageName(name)) continue
        const isKnown = versions.some(
          (each) => each.name === name && each.builtAs === builtAs && each.digest !== null,
        )
        const isNeeded = hosts.some((host) => !isBuild(host.versions[name]))
        if (isKnown || !isNeeded) continue
        if (isBuilder) found.set(`${name} ${builtAs}`, { hostId: id, name, builtAs })
        else if (!currentOf(versions, name)) warnOnce(id, name)
      }
    return [...found.values()]
  }

  const remove = async (hostId: string, name: string, digest: string): Promise<void> => {
    await gateway.removeImage({ hostId, image: name }, { digest })
    await forgetImage(db, hostId, name)
    logger.info({ image: name, digest, hostId }, 'image removed from a host')
  }

  const attempt = async (work: Promise<void>, what: Record<string, string>): Promise<void> => {
    await work.catch((error: unknown) =>
      logger.error(
        { err: error, ...what },
        'an image could not be published, delivered or removed; retrying',
      ),
    )
  }

  const pass = async (): Promise<void> => {
    const hosts = await listHostImages(db, gateway.hostsWithControlLink())
    for (const { hostId, name, builtAs } of unpublished(hosts, await listVersions(db)))
      await attempt(publish(hostId, name, builtAs), { image: name, hostId })
    const versions = await listVersions(db)
    const removed = await listRemoved(db)
    for (const { id: hostId, versions: had } of hosts)
      for (const { name, digest } of removed)
        if (had[name] === digest) await attempt(remove(hostId, name, digest), { image: name, hostId })
    for (const { id: hostId, versions: had } of hosts)
      for (const name of new Set(versions.map((version) => version.name))) {
        const current = currentOf(versions, name)
        if (!current || isBuild(had[name]) || had[name] === current.digest) continue
        await attempt(deliver(hostId, current), { image: name, hostId })
      }
  }

  let checkedAt = Number.NEGATIVE_INFINITY
  let endPlan: (() => void) | undefined
  let running: Promise<void> | undefined
  let isStopped = false
  let again = false
  const run = (): Promise<void> => {
    again = true
    const passes = async (): Promise<void> => {
      while (again && !isStopped) {
        again = false
        await pass()
      }
    }
    running ??= passes().finally(() => {
      running = undefined
    })
    return running
  }

  const sweep = async (): Promise<void> => {
    const dropped = await dropUnneededVersions(db, new Date(clock.now().getTime() - versionGraceMs))
    if (dropped.length > 0) logger.info({ dropped }, 'image versions deleted')
  }

  /** Starts a pass now if the last one was long enough ago, and schedules one otherwise. */
  const checkSoon = (): void => {
    if (endPlan || isStopped) return
    const waitMs = checkedAt + checkIntervalMs - clock.now().getTime()
    if (waitMs > 0) {
      endPlan = clock.after(waitMs, () => {
        endPlan = undefined
        checkSoon()
      })
      return
    }
    checkedAt = clock.now().getTime()
    run().catch((error: unknown) => logger.error({ err: error }, 'distribution of images failed'))
  }

  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'images', everyMs: pollEveryMs, run },
      { name: 'versions of images', everyMs: sweepEveryMs, run: sweep },
    ],
  })

  return {
    run,
    sweep,
    checkSoon,
    listBuilt: () => listBuiltImages(db),
    ensureImage: async (name, hostId) => {
      const current = currentOf(await listVersions(db), name)
      if (!current) throw new ServiceError('base_image_unavailable')
      await deliver(hostId, current).catch((error: unknown) => {
        if (error instanceof HostUnreachable) throw error
        logger.error({ err: error, image: name, hostId }, 'an image could not be delivered')
        throw new ServiceError('base_image_unavailable')
      })
    },
    start: timers.start,
    stop: async () => {
      isStopped = true
      endPlan?.()
      timers.stop()
      await running?.catch(() => undefined)
    },
  }
}
