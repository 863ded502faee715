/** Flags for a boot that only newer releases of runsc know. */
import { tryCommand } from '@dock/foundation'

/** Programs with the setuid bit run as their owner. Their users may become root anyway, by `sudo`. */
const wanted = ['--allow-suid']

/** Returns those of the flags that the program knows. runsc exits with an error if it does not know a flag. */
export async function readBootFlags(path: string): Promise<readonly string[]> {
  const knows = await Promise.all(
    wanted.map(
      async (flag) => (await tryCommand(path, [flag, '--version'], { timeoutMs: 10_000 })).code === 0,
    ),
  )
  return wanted.filter((_, index) => knows[index])
}
