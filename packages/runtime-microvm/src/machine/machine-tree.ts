/**
 * The file tree that a jailed QEMU sees, made of a release and a guest agent. Its name contains the hash of both, so a tree
 * never changes, and what depends on it (templates, running machines) names it.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '@dock/foundation'
import { makeInitrd } from './initrd.ts'
import { type Release, readBootModules } from './release.ts'

export type MachineTree = {
  name: string
  /** Path of the root. */
  root: string
  /** Path of the disk with the modules of the tree's kernel. */
  moduleDisk: string
  /** Version of the kernel in the tree. */
  kernelName: string
}

const partialPrefix = '.new-'

/** Returns the tree in `folder`, and makes it if it is missing. */
export async function prepareMachineTree(
  release: Release,
  agentPath: string,
  folder: string,
): Promise<MachineTree> {
  const agent = await readFile(agentPath)
  const name = createHash('sha256').update(release.id).update('\0').update(agent).digest('hex').slice(0, 16)
  const root = join(folder, name)
  await mkdir(folder, { recursive: true, mode: 0o755 })
  if (!(await readdir(folder)).includes(name)) {
    const half = join(folder, `${partialPrefix}${name}-${process.pid}`)
    await rm(half, { recursive: true, force: true })
    await runCommand('cp', ['-a', '--reflink=auto', '--', join(release.folder, 'root'), half])
    await writeFile(join(half, 'initrd'), makeInitrd(agent, await readBootModules(release)), { mode: 0o444 })
    await rename(half, root).catch(async (error: NodeJS.ErrnoException) => {
      // Another process has made the same tree meanwhile.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
      await rm(half, { recursive: true, force: true })
    })
  }
  return { name, root, moduleDisk: join(release.folder, 'modules.ext4'), kernelName: release.kernelName }
}

/** Removes all trees but those with the given names. Running machines no longer need theirs. */
export async function removeOtherTrees(folder: string, kept: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!kept.has(name)) await rm(join(folder, name), { recursive: true, force: true })
  }
}
