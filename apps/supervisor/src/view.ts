/**
 * The short, unprivileged view of this machine that control plane and PostgreSQL run in: the checkout read-only and
 * the control plane's folder, under /run. Made in this process's own mount namespace, so that it ends with it; the
 * checkout may lie under a folder that only root may enter. Disks of Docks are not in it.
 */
import { chmod, mkdir, readdir, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand, tryCommand } from '@dock/foundation'
import type { Settings } from './settings.ts'

export type View = {
  checkoutDir: string
  controlDir: string
  node: string
  /** Where Node finds the programs compiled; empty when nothing was. */
  compiledDir: string
}

const shown = ['apps', 'packages', 'node_modules', 'package.json'] as const

const bind = async (source: string, target: string, readOnly: boolean): Promise<void> => {
  if ((await stat(source)).isDirectory()) await mkdir(target, { recursive: true })
  else await writeFile(target, '')
  await runCommand('mount', ['--bind', source, target])
  if (readOnly) await runCommand('mount', ['-o', 'remount,bind,ro,nosuid,nodev', target])
}

/** Takes the host's part of the data folder out of this namespace: an empty folder lies over it. */
const hideHost = async (hostDir: string): Promise<void> => {
  await mkdir(hostDir, { recursive: true, mode: 0o700 })
  await tryCommand('umount', ['--lazy', join(hostDir, 'pool')])
  await runCommand('mount', ['-t', 'tmpfs', '-o', 'ro,mode=0700,size=4k', 'none', hostDir])
}

/** Makes the view. Throws when the unprivileged user could not read the program in it. */
export async function makeView(settings: Settings, identity: { uid: number; gid: number }): Promise<View> {
  const { viewDir } = settings
  await mkdir(viewDir, { recursive: true })
  await runCommand('mount', ['-t', 'tmpfs', '-o', 'mode=0755,size=64k', 'none', viewDir])
  const checkoutDir = join(viewDir, 'app')
  await mkdir(checkoutDir)
  const present = new Set(await readdir(settings.checkout))
  for (const name of shown) {
    if (present.has(name)) await bind(join(settings.checkout, name), join(checkoutDir, name), true)
  }
  const compiledDir = join(checkoutDir, '.tools/compiled')
  const compiled = join(settings.checkout, '.tools/compiled')
  if ((await tryCommand('test', ['-d', compiled])).code === 0) await bind(compiled, compiledDir, true)
  const node = join(viewDir, 'node')
  await bind(process.execPath, node, true)
  const controlDir = join(viewDir, 'control')
  await bind(settings.controlDir, controlDir, false)
  if (settings.embeddedHost) await hideHost(settings.hostDir)
  await chmod(viewDir, 0o755)

  const main = join(checkoutDir, 'apps/control-plane/src/main.ts')
  const asUser = ['--reuid', String(identity.uid), '--regid', String(identity.gid), '--clear-groups', '--']
  for (const path of [main, node]) {
    if ((await tryCommand('setpriv', [...asUser, 'test', '-r', path])).code === 0) continue
    throw new Error(
      `The user 'dock' cannot read the program in ${settings.checkout}. Make it readable: chmod -R go+rX ${settings.checkout}/{apps,packages,node_modules,package.json}`,
    )
  }
  return { checkoutDir, controlDir, node, compiledDir }
}

/** Removes what the view left outside this namespace: an empty folder. */
export async function removeView(settings: Settings): Promise<void> {
  await tryCommand('umount', ['--recursive', '--lazy', settings.viewDir])
  await rmdir(settings.viewDir).catch(() => undefined)
}
