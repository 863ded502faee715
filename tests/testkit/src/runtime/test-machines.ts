/**
 * Emulated microVMs for tests. Needs root, DOCK_TEST_MICROVM (made by script/install/microvm) and DOCK_TEST_GUEST_AGENT (made by
 * script/install/guest-agent) and DOCK_TEST_ROOTFS.
 */
import { rmSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runCommand } from '@dock/foundation'
import { type MachineTree, prepareMachineTree } from '@dock/runtime-microvm/src/machine/machine-tree.ts'
import {
  createQemuVmm,
  type QemuVmm,
  type QemuVmmOptions,
} from '@dock/runtime-microvm/src/machine/qemu/qemu-vmm.ts'
import { type Release, readRelease } from '@dock/runtime-microvm/src/machine/release.ts'

const { DOCK_TEST_MICROVM: installed, DOCK_TEST_GUEST_AGENT: honest, DOCK_TEST_ROOTFS: rootfs } = process.env

/** False if this machine lacks what the tests need. */
export const hasTestMachines = Boolean(installed && honest && rootfs && process.getuid?.() === 0)

export type TestMachines = {
  /** Folder for files of the test. */
  folder: string
  release: Release
  tree: MachineTree
  vmm: QemuVmm
  /** Returns another monitor for the same machines, as a later agent has one. */
  anotherVmm(more?: Pick<QemuVmmOptions, 'answerMs'>): QemuVmm
  /** Makes an ext4 disk with a static `/bin/bash` and nothing else. */
  makeDisk(path: string, mebibytes: number): Promise<void>
  /** Makes an ext4 disk with the root filesystem of an image. */
  makeImageDisk(path: string, mebibytes: number): Promise<void>
  /** Ends all machines and removes the folder. */
  close(): Promise<void>
}

/** `agent` is the guests' agent, if it is another one. */
export async function openTestMachines(agent = honest): Promise<TestMachines> {
  if (!installed || !agent || !rootfs)
    throw new Error('set DOCK_TEST_MICROVM, DOCK_TEST_GUEST_AGENT and DOCK_TEST_ROOTFS')
  const folder = await mkdtemp(join(tmpdir(), 'dock-vm-'))
  const release = await readRelease(installed)
  const tree = await prepareMachineTree(release, agent, join(dirname(installed), 'machine-trees'))
  const anotherVmm: TestMachines['anotherVmm'] = (more) =>
    createQemuVmm({ tree, stateDir: join(folder, 'm'), accelerator: 'tcg', ...more })
  const vmm = anotherVmm()
  const content = join(folder, 'content')
  await mkdir(join(content, 'bin'), { recursive: true })
  await mkdir(join(content, 'lib'))
  await copyFile(join(rootfs, 'usr/bin/bash-static'), join(content, 'bin/bash'))
  return {
    ...{ folder, release, tree, vmm, anotherVmm },
    makeDisk: async (path, mebibytes) => {
      rmSync(path, { force: true })
      await runCommand('mke2fs', ['-q', '-t', 'ext4', '-d', content, path, `${mebibytes}m`])
    },
    makeImageDisk: async (path, mebibytes) => {
      await runCommand('mke2fs', ['-q', '-t', 'ext4', '-d', rootfs, path, `${mebibytes}m`], {
        timeoutMs: 300_000,
      })
    },
    close: async () => {
      for (const id of await vmm.list()) await vmm.remove(id)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
