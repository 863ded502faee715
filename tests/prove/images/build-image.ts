import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { print } from '../../../bench/parts/bench-server.ts'
import type { Server } from '../../e2e/support/server.ts'

const exec = promisify(execFile)
const checkout = new URL('../../..', import.meta.url).pathname

/** Runs script/image for the server. Returns what it printed. */
export async function buildImage(
  { dataDir, admin }: Server,
  name: string,
  ...flags: string[]
): Promise<string> {
  const startedAt = Date.now()
  const env = { ...process.env, DOCK_DATA_DIR: dataDir, DEFAULT_IMAGE: admin.image }
  const { stdout } = await exec(join(checkout, 'script/image'), [...flags, name], { env, maxBuffer: 2 ** 24 })
  print(
    `        script/image ${[...flags, name].join(' ')}: ${((Date.now() - startedAt) / 1000).toFixed(0)} s, ${stdout.trim()}`,
  )
  return stdout
}
