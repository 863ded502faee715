/** What runsc has written down of a sandbox in its state folder. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'

export type SandboxState = {
  /** Processes on the host; 0 when there is none. */
  pid: number
  goferPid: number
  /** Path of the sentry's control socket; undefined when there is none. */
  controlSocket: string | undefined
}

const stateFile = z.object({
  goferPid: z.number().optional(),
  sandbox: z.object({ pid: z.number(), controlSocketPath: z.string().optional() }).nullish(),
})

/** Reads the state of the sandbox of this id; one that runsc does not know has neither process nor socket. */
export async function readSandboxState(rootDir: string, id: string): Promise<SandboxState> {
  const names = await readdir(rootDir).catch(() => [])
  const name = names.find((candidate) => candidate.startsWith(`${id}_`) && candidate.endsWith('.state'))
  if (!name) return { pid: 0, goferPid: 0, controlSocket: undefined }
  const { goferPid, sandbox } = stateFile.parse(JSON.parse(await readFile(join(rootDir, name), 'utf8')))
  return {
    pid: sandbox?.pid ?? 0,
    goferPid: goferPid ?? 0,
    controlSocket: sandbox?.controlSocketPath || undefined,
  }
}
