/**
 * The view: a short folder under /run in which the unprivileged control plane and PostgreSQL run. It contains the checkout,
 * read-only, and the control plane's folder, but no disks of Docks. Its mounts are in this process's own mount namespace and
 * end with it. The view works even if the checkout is below a folder that only root can enter.
 */
import { chmod, mkdir, readdir, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand, tryCommand } from '@dock/foundation'
import type { Settings } from './settings.ts'

export type View = {
  checkoutDir: string
  controlDir: string
  node: string
  /** Folder of the bundled programs, with Node's compile cache. */
  compiledDir: string
  /** The control plane's program. */
  controlPlane: string
}

const shown = ['apps', 'packages', 'node_modules', 'package.json'] as const

const bind = async (source: string, target: string, readOnly: boolean): Promise<void> => {
  if ((await stat(source)).isDirectory()) await mkdir(target, { recursive: true })
  else await writeFile(target, '')
  await runCommand('mount', ['--bind', source, target])
  if (readOnly) await runCommand('mount', ['-o', 'remount,bind,ro,nosuid,nodev', target])
}

/** Hides the host's part of the data folder in this namespace by mounting an empty folder over it. */
const hideHost = async (hostDir: string): Promise<void> => {
  await mkdir(hostDir, { recursive: true, mode: 0o700 })
  await tryCommand('umount', ['--lazy', join(hostDir, 'pool')])
  await runCommand('mount', ['-t', 'tmpfs', '-o', 'ro,mode=0700,size=4k', 'none', hostDir])
}

/** Creates the view. Throws if the unprivileged user cannot read the program in it. */
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
  await bind(settings.compiledDir, compiledDir, true)
  // Mounted also while empty: a site that is built later appears in it.
  const docs = '.tools/docs'
  await mkdir(join(settings.checkout, docs), { recursive: true })
  await bind(join(settings.checkout, docs), join(checkoutDir, docs), true)
  const node = join(viewDir, 'node')
  await bind(process.execPath, node, true)
  const controlDir = join(viewDir, 'control')
  await bind(settings.controlDir, controlDir, false)
  if (settings.embeddedHost) await hideHost(settings.hostDir)
  await chmod(viewDir, 0o755)

  const controlPlane = join(compiledDir, 'control-plane.mjs')
  const asUser = ['--reuid', String(identity.uid), '--regid', String(identity.gid), '--clear-groups', '--']
  for (const path of [controlPlane, node]) {
    if ((await tryCommand('setpriv', [...asUser, 'test', '-r', path])).code === 0) continue
    throw new Error(
      `The user 'dock' cannot read the program in ${settings.checkout}. Make it readable: chmod -R go+rX ${settings.checkout}/{apps,packages,node_modules,package.json}`,
    )
  }
  return { checkoutDir, controlDir, node, compiledDir, controlPlane }
}

/** Removes the empty folder of the view. */
export async function removeView(settings: Settings): Promise<void> {
  await tryCommand('umount', ['--recursive', '--lazy', settings.viewDir])
  await rmdir(settings.viewDir).catch(() => undefined)
}
