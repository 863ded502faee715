/** Searches files for text, byte by byte: folders of the service, and the disks that it keeps. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { processOf } from '../../crash/processes.ts'
import type { Server } from './server.ts'

/**
 * Standard output of a search; a file that went away while it was searched takes nothing from what was found. Bytes are
 * bytes, and no line is longer than what lies between two zeros: so grep passes over the holes of a disk.
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

/** The files that hold it, also in folders below. */
export async function filesWith(text: string, folders: readonly string[]): Promise<string[]> {
  return (await grep('-rlF', [text], folders)).split('\n').filter(Boolean)
}

/** Which of the texts stand in files of these folders, however often: all of them in one reading. */
export async function textsIn(
  texts: readonly string[],
  folders: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await grep('-rahozF', texts, folders)).split('\0'))
}

/** Where the agent sees the captures of the server's disks, one folder each. */
export async function capturesFolder({ dataDir, admin }: Pick<Server, 'dataDir' | 'admin'>): Promise<string> {
  const agent = await processOf('agent', { dataDir, port: Number(new URL(admin.baseUrl).port) })
  return join('/proc', String(agent), 'root', dataDir, 'host/pool/captures')
}
