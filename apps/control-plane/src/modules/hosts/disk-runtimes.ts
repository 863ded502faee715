/** Which hosts may boot a disk, by the runtime under which it was made (decision 053). Nothing else knows the rule. */
import { type RuntimeName, ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'

/** The runtimes that boot a disk, by the runtime under which the disk was made. */
const bootedBy: Readonly<Record<RuntimeName, readonly RuntimeName[]>> = {
  gvisor: ['gvisor'],
  microvm: ['microvm'],
}

/**
 * Returns the runtimes of hosts on which a Dock may start; null if any will do. `disk`: the runtime of the disk that it
 * starts from, null if that is an image, which no Dock has written. Throws `validation_error` if the caller asks for another one.
 */
export function runtimesFor(
  disk: RuntimeName | null,
  asked: RuntimeName | undefined,
): readonly RuntimeName[] | null {
  const able = disk === null ? null : bootedBy[disk]
  if (asked === undefined) return able
  if (able && !able.includes(asked))
    throw new ServiceError('validation_error', {
      message: `x-dock-runtime: the disk was made under ${disk} and does not boot under ${asked}. Ask for no runtime.`,
    })
  return [asked]
}

/** SQL predicate: true if a host of runtime `host` boots a disk that was made under `disk`. */
export function bootsDisk(host: RawBuilder<unknown>, disk: RawBuilder<unknown>): RawBuilder<boolean> {
  const pairs = Object.entries(bootedBy).flatMap(([made, able]) =>
    able.map((runtime) => sql`(${made}::text, ${runtime}::text)`),
  )
  return sql<boolean>`((${disk}, ${host}) in (${sql.join(pairs)}))`
}
