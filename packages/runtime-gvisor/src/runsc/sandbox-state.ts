/** Reads runsc's state file of a sandbox. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'

export type SandboxState = {
  /** Pids on the host; 0 if there is no such process. */
  pid: number
  goferPid: number
  /** Path of the sentry's control socket; undefined if there is none. */
  controlSocket: string | undefined
}

const stateFile = z.object({
  goferPid: z.number().optional(),
  sandbox: z.object({ pid: z.number(), controlSocketPath: z.string().optional() }).nullish(),
})

/** runsc writes the file in place, under a lock that Node cannot take. A reader may see a part of it for a moment. */
const writtenWithinMs = 2_000
const rereadMs = 5

const readWhole = async (path: string): Promise<z.infer<typeof stateFile>> => {
  const deadline = performance.now() + writtenWithinMs
  for (;;) {
    const text = await readFile(path, 'utf8')
    try {
      return stateFile.parse(JSON.parse(text))
    } catch (error) {
      if (!(error instanceof SyntaxError) || performance.now() > deadline)
        throw new Error(`${path} is not a state of runsc`, { cause: error })
    }
    await delay(rereadMs)
  }
}

/** Reads the state of the sandbox with this id. A sandbox unknown to runsc has neither processes nor a socket. */
export async function readSandboxState(rootDir: string, id: string): Promise<SandboxState> {
  const names = await readdir(rootDir).catch(() => [])
  const name = names.find((candidate) => candidate.startsWith(`${id}_`) && candidate.endsWith('.state'))
  if (!name) return { pid: 0, goferPid: 0, controlSocket: undefined }
  const { goferPid, sandbox } = await readWhole(join(rootDir, name))
  return {
    pid: sandbox?.pid ?? 0,
    goferPid: goferPid ?? 0,
    controlSocket: sandbox?.controlSocketPath || undefined,
  }
}
