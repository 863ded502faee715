/** The folder through which crash tests pause or kill the server's processes at fault points, and list fault points. */
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type FaultFolder = {
  path: string
  /** Arms a fault point: the next process that reaches it pauses, or meets `fate`. */
  arm(place: string, fate?: string): Promise<void>
  hasHit(place: string): boolean
  /** Disarms all fault points and forgets hits. */
  clear(): Promise<void>
  /** Returns the fault points passed while `work` runs, in the order of their first pass. */
  placesOf(work: () => Promise<unknown>): Promise<string[]>
  remove(): Promise<void>
}

/** Creates a folder that the agent (root) and the control plane (an unprivileged user) can both write. */
export async function createFaultFolder(): Promise<FaultFolder> {
  const path = await mkdtemp(join(tmpdir(), 'dock-faults-'))
  const empty = async (): Promise<void> => {
    for (const name of ['armed', 'hit']) {
      await rm(join(path, name), { recursive: true, force: true })
      await mkdir(join(path, name))
      await chmod(join(path, name), 0o777)
    }
  }
  await chmod(path, 0o777)
  await empty()
  const trace = join(path, 'trace')
  return {
    path,
    arm: async (place, fate = '') => {
      const file = join(path, 'armed', place)
      await writeFile(file, fate)
      await chmod(file, 0o666)
    },
    hasHit: (place) => existsSync(join(path, 'hit', place)),
    clear: empty,
    placesOf: async (work) => {
      await writeFile(trace, '')
      await chmod(trace, 0o666)
      try {
        await work()
        return [...new Set((await readFile(trace, 'utf8')).split('\n').filter((line) => line !== ''))]
      } finally {
        await rm(trace)
      }
    },
    remove: () => rm(path, { recursive: true, force: true }),
  }
}
