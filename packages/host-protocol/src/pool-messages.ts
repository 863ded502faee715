/** The warm pool: sandboxes that a host keeps booted and frozen, so that a create finds its Dock already there. */
import * as z from 'zod'

/** What a host may hold ready at most, whatever its setting. */
export const poolSizeMax = 200

/**
 * POST /pool, after each connect: what the host is to keep ready from now on; null for nothing. How many is the host's
 * own setting. Answers `{}`.
 */
export const keepPool = z.strictObject({
  kind: z
    .strictObject({
      image: z.string(),
      cpus: z.number().int(),
      memoryMiB: z.number().int(),
      diskGiB: z.number().int(),
    })
    .nullable(),
})
export type KeepPool = z.infer<typeof keepPool>

/**
 * A sandbox that waits, under the id of the Dock that it will be. It is claimed by a start command for that id with
 * generation 1, the same size, `source` this image and `newIdentity` false. A host name of its own costs one command
 * inside. A claim that comes too late, or differs, is an ordinary start: nothing is lost but time.
 */
export const poolReport = z.strictObject({
  dockId: z.uuid().lowercase(),
  image: z.string().max(64),
  cpus: z.number().int(),
  memoryMiB: z.number().int(),
  diskGiB: z.number().int(),
  hostname: z.string().max(255),
  ip: z.string().max(45),
})
export type PoolReport = z.infer<typeof poolReport>
