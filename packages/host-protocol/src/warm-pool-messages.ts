/**
 * The warm pool: sandboxes that a host keeps booted and frozen, so that a create can claim one instead of booting. Paths
 * and fields of messages call it `pool`. Everywhere else "pool" alone means the disk pool.
 */
import * as z from 'zod'

/** Upper limit of a host's warm pool, regardless of its setting. */
export const warmPoolSizeMax = 200

const warmPoolKind = z.object({
  image: z.string(),
  cpus: z.number().int(),
  memoryMiB: z.number().int(),
  diskGiB: z.number().int(),
})

/** The kind of sandbox that the host keeps ready; null for none. The host's own setting decides how many. */
export const keepWarmPool = z.object({
  kind: warmPoolKind.nullable(),
  /** A second kind. The host keeps a few of it within its setting. It is omitted if there is none. */
  second: warmPoolKind.optional(),
})
export type KeepWarmPool = z.infer<typeof keepWarmPool>

/**
 * A waiting sandbox. `dockId` is the id of the Dock it will become. A start command claims it with that id, generation
 * 1, the same size, this image as `source`, and `newIdentity` false. A different host name costs one command inside the
 * sandbox. A start that comes too late or differs boots an ordinary Dock, which only takes longer.
 */
export const warmSandbox = z.object({
  dockId: z.uuid().lowercase(),
  image: z.string().max(64),
  cpus: z.number().int(),
  memoryMiB: z.number().int(),
  diskGiB: z.number().int(),
  hostname: z.string().max(255),
  ip: z.string().max(45),
})
export type WarmSandbox = z.infer<typeof warmSandbox>
