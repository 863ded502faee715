/** Searches files for text, byte by byte: folders of the service, and Docks' disks. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { processOf } from '../../crash/processes.ts'
import type { Server } from './server.ts'

/**
 * Runs grep and returns its output, even if a file disappeared during the search. The locale C makes grep treat files
 * as bytes. With `-z`, lines end at zero bytes, so that holes of a disk do not form huge lines.
 */
const grep = (options: string, texts: readonly string[], folders: readonly string[]): Promise<string> =>
  promisify(execFile)(
    'grep',
    [options, '--devices=skip', ...texts.flatMap((text) => ['-e', text]), ...folders],
    { env: { ...process.env, LC_ALL: 'C' } },
  ).then(
    ({ stdout }) => stdout,
    (error: { code?: number; stdout?: string }) => {
      if (error.code === 1 || error.code === 2) return error.stdout ?? ''
      throw error
    },
  )

/** Lists the files below the folders that contain the text. */
export async function filesWith(text: string, folders: readonly string[]): Promise<string[]> {
  return (await grep('-rlF', [text], folders)).split('\n').filter(Boolean)
}

/** Returns the texts that occur in files below the folders. Reads each file once. */
export async function textsIn(
  texts: readonly string[],
  folders: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await grep('-rahozF', texts, folders)).split('\0'))
}

/** Returns the path of the agent's captures folder, which has a folder per capture. */
export async function capturesFolder({ dataDir, admin }: Pick<Server, 'dataDir' | 'admin'>): Promise<string> {
  const agent = await processOf('agent', { dataDir, port: Number(new URL(admin.baseUrl).port) })
  return join('/proc', String(agent), 'root', dataDir, 'host/pool/captures')
}
