/** CPUs and memory that a resume sets apply to that boot only. A changed disk size is permanent. */
import { sql } from 'kysely'

/** Assignments that restore the Dock's own size when its boot ends, for the table alias `d`. */
export const sizeAfterBoot = sql`cpus = coalesce(d.kept_cpus, d.cpus),
  memory_mib = coalesce(d.kept_memory_mib, d.memory_mib), kept_cpus = null, kept_memory_mib = null`
