/** Reads which release of gVisor new sandboxes get. */
import { readFile } from 'node:fs/promises'
import { runCommand } from '@dock/foundation'
import type { RuntimeRelease } from '@dock/runtime'
import { oncePerProgram } from './once-per-program.ts'

/** Returns the date in a version such as 20240729.0, or undefined if there is none. */
const dateIn = (version: string): string | undefined => {
  const date = version.replace(/^(\d{4})(\d{2})(\d{2}).*$/, '$1-$2-$3')
  return Number.isNaN(Date.parse(date)) ? undefined : date
}

/** Returns where the program at `path` comes from. script/install/runsc stores it with the version that it installed. */
const sourceOf = async (path: string, version: string): Promise<string | undefined> => {
  const stored = await readFile(`${path}.from`, 'utf8').catch(() => '')
  return stored.startsWith(`${version} `) ? stored.slice(version.length + 1).trim() : undefined
}

/** Creates a function that returns the release of the program at `path`, and runs the program only if it was replaced. */
export function createReleaseReader(path: string): () => Promise<RuntimeRelease> {
  return oncePerProgram(path, async () => {
    const text = await runCommand(path, ['--version'], { timeoutMs: 10_000 })
    const found = /\d{8}(\.\d+)?/.exec(text)
    if (!found) return { version: text.split('\n')[0] || 'unknown' }
    const version = found[1] ? found[0] : `${found[0]}.0`
    const releasedAt = dateIn(version)
    const source = await sourceOf(path, version)
    return { version, ...(source && { source }), ...(releasedAt && { releasedAt }) }
  })
}
