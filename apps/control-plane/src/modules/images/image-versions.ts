/**
 * An image is built on one host and published from there, as soon as another host needs it: its disk is copied as a
 * Snapshot's is, under keys of the instance, and known by its digest, which a version keeps. Hosts that did not build it
 * are given the current version. Only hosts that an operator marked as builders publish, and only images of the catalog:
 * any other host could put a disk of its own in the place of everybody's. Everything is read afresh each time; doing it
 * twice is harmless.
 */

import { ServiceError } from '@dock/contract'
import { diskDigest } from '@dock/copy-format'
import { createTimers } from '../../engine/index.ts'
import { type CopyContext, readCopy, takeCopy, verifiedCopy } from '../copies/index.ts'
import { HostUnreachable } from '../hosts/index.ts'
import {
  beginVersion,
  dropUnneededVersions,
  type HostImages,
  hostImages,
  type ImageVersion,
  listVersions,
  noteDelivery,
  saveDigest,
} from './image-store.ts'

const lookEveryMs = 60_000
/** Many hosts report every second: one look after a while sees what all of them said. */
export const looksApartMs = 2_000
const sweepEveryMs = 600_000
/** How long a version stays after it was made, whoever needs it. */
export const versionGraceMs = 3_600_000
/** Stands where copies have their organization: images belong to the instance. */
const instanceId = '00000000-0000-0000-0000-000000000000'

export type ImageVersions = {
  /** A host has reported: what is missing somewhere is published and delivered, in the background. */
  look(): void
  /** Publishes and delivers all that is missing; resolves when nothing more is. */
  run(): Promise<void>
  /** Gives a host an image that it lacks. Throws `base_image_unavailable` when it cannot be had. */
  ensureImage(name: string, hostId: string): Promise<void>
  /** Drops versions that nothing needs. */
  sweep(): Promise<void>
  start(): void
  stop(): Promise<void>
}

const isBuild = (version: string | undefined): version is string => version?.startsWith('built:') ?? false

/** `catalog`: the images that this service knows. */
export function createImageVersions(context: CopyContext, catalog: readonly string[]): ImageVersions {
  const { db, clock, gateway, logger } = context
  /** Builds of other hosts that were warned about. */
  const warned = new Set<string>()

  /** The version that hosts are given, or undefined while none is published. */
  const currentOf = (versions: readonly ImageVersion[], name: string): ImageVersion | undefined =>
    versions.find((version) => version.name === name && version.digest !== null)

  const publish = async (hostId: string, name: string, builtAs: string): Promise<void> => {
    const id = await beginVersion(db, { name, builtAs, now: clock.now() })
    const startedAt = performance.now()
    const disk = { id, organizationId: instanceId, hostId }
    const report = await takeCopy(context, disk, {
      name: (keys) => gateway.nameImageChunks(hostId, name, keys),
      seal: (keys, wanted) => gateway.sealImageChunks(hostId, name, keys, wanted),
    })
    const copy = await verifiedCopy(db, id)
    // Another process is at it.
    if (!copy) return
    const { manifest } = await readCopy(context, copy)
    const digest = diskDigest(manifest.diskBytes, manifest.chunks)
    await saveDigest(db, id, digest)
    const ms = Math.round(performance.now() - startedAt)
    logger.info({ image: name, digest, builtAs, hostId, ...report, ms }, 'image published')
  }

  const deliver = async (hostId: string, { id, name, digest }: ImageVersion): Promise<void> => {
    const copy = await verifiedCopy(db, id)
    if (!copy || digest === null) throw new Error(`version ${digest} of ${name} has no copy`)
    const startedAt = performance.now()
    const { keys, manifest, frames } = await readCopy(context, copy)
    if (diskDigest(manifest.diskBytes, manifest.chunks) !== digest)
      throw new Error(`the copy of ${name} is not version ${digest}`)
    await gateway.sendImage(hostId, name, { keys, diskBytes: manifest.diskBytes, digest }, frames)
    await noteDelivery(db, hostId, { name, digest })
    const ms = Math.round(performance.now() - startedAt)
    logger.info({ image: name, digest, hostId, ms }, 'image delivered')
  }

  /** Told once each: the operator may want that host to be a builder, or to know what it says. */
  const warnOf = (hostId: string, name: string): void => {
    if (warned.has(`${hostId} ${name}`)) return
    warned.add(`${hostId} ${name}`)
    logger.warn(
      { hostId, image: name },
      'a host that is no builder has an image that others lack; it is not published (script/builders)',
    )
  }

  /** Builds that no version is of, and that some host lacks. */
  const unpublished = (hosts: readonly HostImages[], versions: readonly ImageVersion[]) => {
    const found = new Map<string, { hostId: string; name: string; builtAs: string }>()
    for (const { id, isBuilder, versions: had } of hosts)
      for (const name of catalog) {
        const builtAs = had[name]
        if (!isBuild(builtAs)) continue
        const isKnown = versions.some(
          (each) => each.name === name && each.builtAs === builtAs && each.digest !== null,
        )
        const isNeeded = hosts.some((host) => !isBuild(host.versions[name]))
        if (isKnown || !isNeeded) continue
        if (isBuilder) found.set(`${name} ${builtAs}`, { hostId: id, name, builtAs })
        else if (!currentOf(versions, name)) warnOf(id, name)
      }
    return [...found.values()]
  }

  const attempt = async (work: Promise<void>, what: Record<string, string>): Promise<void> => {
    await work.catch((error: unknown) =>
      logger.error({ err: error, ...what }, 'an image is not where it is needed; it is tried again'),
    )
  }

  const pass = async (): Promise<void> => {
    const hosts = await hostImages(db, gateway.linked())
    for (const { hostId, name, builtAs } of unpublished(hosts, await listVersions(db)))
      await attempt(publish(hostId, name, builtAs), { image: name, hostId })
    const versions = await listVersions(db)
    for (const { id: hostId, versions: had } of hosts)
      for (const name of catalog) {
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
    if (dropped.length > 0) logger.info({ dropped }, 'versions of images dropped')
  }

  /** At once when the last look was long enough ago; otherwise when it will have been. */
  const look = (): void => {
    if (endPlan || isStopped) return
    const waitMs = checkedAt + looksApartMs - clock.now().getTime()
    if (waitMs > 0) {
      endPlan = clock.after(waitMs, () => {
        endPlan = undefined
        look()
      })
      return
    }
    checkedAt = clock.now().getTime()
    run().catch((error: unknown) => logger.error({ err: error }, 'images were not looked after'))
  }

  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'images', everyMs: lookEveryMs, run },
      { name: 'versions of images', everyMs: sweepEveryMs, run: sweep },
    ],
  })

  return {
    run,
    sweep,
    look,
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
