/** The processes of a running server, found by what they were started with. */
import { readdir, readFile } from 'node:fs/promises'

/** Returns the ids of processes whose command line contains all the texts. */
export async function processesOf(...texts: string[]): Promise<number[]> {
  const found: number[] = []
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const line = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')
    if (texts.every((text) => line.includes(text))) found.push(Number(entry))
  }
  return found
}

const environmentHas = async (pid: number, text: string): Promise<boolean> =>
  (await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')).includes(text)

export type AppName = 'control-plane' | 'host-agent'

/** Returns the Node process of an app of the server on this data folder. Its environment names the folder. */
export async function appProcess(dataDir: string, app: AppName): Promise<number> {
  for (const pid of await processesOf('node', `/${app}.mjs`))
    if (await environmentHas(pid, `=${dataDir}`)) return pid
  throw new Error(`no process of ${app}`)
}

/** Ends an app with SIGKILL. The supervisor starts it again. */
export async function killApp(dataDir: string, app: AppName): Promise<void> {
  process.kill(await appProcess(dataDir, app), 'SIGKILL')
}
