/** The archive that an editor puts into a Dock: VS Code's server and the Node program that runs it. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const checkout = new URL('../../..', import.meta.url).pathname

/** Names the version, as the commit does in VS Code's own archives. */
export const serverVersion = 'dock-proof'

/** Writes `vscode-server.tar.gz` into the folder unless it is there, and returns its path. */
export async function packVscodeServer(folder: string): Promise<string> {
  const archive = join(folder, 'vscode-server.tar.gz')
  if (existsSync(archive)) return archive
  const { stdout } = await run(join(checkout, 'script/install/vscode-server'))
  const server = stdout.trim()
  const node = ['-C', join(process.execPath, '..'), 'node']
  const compress = ['--use-compress-program', 'gzip -1', '--owner=0', '--group=0']
  await run('tar', ['-cf', archive, ...compress, '-C', server, '.', ...node])
  return archive
}
