/** Installs another commit of this repository beside this checkout, once. */
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '@dock/foundation'

const root = join(import.meta.dirname, '../..')
const installed = join(root, '.tools/guard')

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/**
 * Returns the folder and the full name of a commit, with its packages installed. The folder holds the commit's files
 * without git, so it does not appear among the worktrees of this repository.
 */
export async function installBase(revision: string): Promise<{ checkout: string; commit: string }> {
  const commit = (
    await runCommand('git', ['-C', root, 'rev-parse', '--verify', `${revision}^{commit}`])
  ).trim()
  const checkout = join(installed, commit)
  if (!(await exists(checkout))) {
    await mkdir(installed, { recursive: true })
    const half = await mkdtemp(join(installed, 'half-'))
    await runCommand('bash', [
      '-euo',
      'pipefail',
      '-c',
      'git -C "$0" archive "$1" | tar -xf - -C "$2"',
      root,
      commit,
      half,
    ])
    await rm(checkout, { recursive: true, force: true })
    await rename(half, checkout)
  }
  await runCommand(join(checkout, 'script/bootstrap'), [], { cwd: checkout })
  return { checkout, commit }
}
