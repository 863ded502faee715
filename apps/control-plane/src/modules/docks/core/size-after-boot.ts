/** A size that a resume gave is for its boot alone; a disk stays as large as it was made. */
import { sql } from 'kysely'

/** Assignments for the row `d` as its boot ends. */
export const sizeAfterBoot = sql`cpus = coalesce(d.kept_cpus, d.cpus),
  memory_mib = coalesce(d.kept_memory_mib, d.memory_mib), kept_cpus = null, kept_memory_mib = null`
