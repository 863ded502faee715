/** Searches files for text, byte by byte: folders of the service, and the disks that it keeps. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { processOf } from '../../crash/processes.ts'
import type { Server } from './server.ts'

/** The files that hold it, also in folders below. */
export const filesWith = (text: string, folders: readonly string[]): Promise<string[]> =>
  promisify(execFile)('grep', ['-rlaF', '--devices=skip', '-e', text, ...folders]).then(
    ({ stdout }) => stdout.trim().split('\n'),
    (error: { code?: number; stdout?: string }) => {
      // 2: a file went away while it was searched; what was found counts.
      if (error.code === 1 || error.code === 2) return (error.stdout ?? '').split('\n').filter(Boolean)
      throw error
    },
  )

/** Where the agent sees the captures of the server's disks, one folder each. */
export const capturesFolder = async ({
  dataDir,
  admin,
}: Pick<Server, 'dataDir' | 'admin'>): Promise<string> => {
  const agent = await processOf('agent', { dataDir, port: Number(new URL(admin.baseUrl).port) })
  return join('/proc', String(agent), 'root', dataDir, 'host/pool/captures')
}
