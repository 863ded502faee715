/** A test of the runtime with a sandbox that no Dock gets. */
import * as z from 'zod'

/** The image must be one of the host's. */
export const testRuntime = z.object({
  image: z.string(),
  cpus: z.number().int(),
  memoryMiB: z.number().int(),
  diskGiB: z.number().int(),
})
export type TestRuntime = z.infer<typeof testRuntime>

const milliseconds = z.number().nonnegative()

export const runtimeTest = z.object({
  /** From the first work on the disk until the sandbox takes commands. */
  bootMs: milliseconds,
  /** One command under a login bash, after a first one. */
  execMs: milliseconds,
  /** From the thaw of the frozen sandbox to the end of a command. Null if the runtime cannot freeze. */
  thawMs: milliseconds.nullable(),
})
export type RuntimeTest = z.infer<typeof runtimeTest>
