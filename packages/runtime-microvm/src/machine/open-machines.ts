/** Prepares everything below the guests on this host: the tree that machines run from, how they run, and their templates. */
import { join } from 'node:path'
import type { Logger } from '@dock/foundation'
import { readUsedTrees } from './jail/machine-folder.ts'
import type { Machine } from './machine.ts'
import { type MachineTree, prepareMachineTree, removeOtherTrees } from './machine-tree.ts'
import { type AcceleratorChoice, probeAccelerator } from './qemu/probe-accelerator.ts'
import { createQemuVmm, hasKvm, type QemuVmm } from './qemu/qemu-vmm.ts'
import { type Release, readRelease } from './release.ts'
import { openTemplates, type Templates } from './templates/start-from-template.ts'

export type MachinesOptions = {
  /** What script/install/microvm made. */
  installed: string
  /** The guest agent, a static program. */
  agentPath: string
  /** Folder for trees and templates. */
  folder: string
  /** Folder of the machines' folders, with a short path. */
  stateDir: string
  /** Distinguishes this agent from others on the host: a few letters and digits. */
  instance: string
  /** True if machines may be emulated. */
  allowsEmulation: boolean
  /** Resolves when the guest's agent waits for its configuration. It must leave no connection open. */
  awaitAgent: (machine: Machine) => Promise<void>
  logger: Logger
}

export type Machines = {
  release: Release
  tree: MachineTree
  choice: AcceleratorChoice
  vmm: QemuVmm
  templates: Templates
}

/** Throws an error that says what to do if machines cannot run here. */
export async function openMachines(options: MachinesOptions): Promise<Machines> {
  const { folder, stateDir, instance, allowsEmulation, awaitAgent, logger } = options
  const release = await readRelease(options.installed)
  const trees = join(folder, 'trees')
  const tree = await prepareMachineTree(release, options.agentPath, trees)
  const vmmWith = (accelerator: 'kvm' | 'tcg') => createQemuVmm({ tree, stateDir, accelerator })
  const kvm = hasKvm() ? vmmWith('kvm') : null
  const choice = await probeAccelerator({ kvm, folder, instance, allowsEmulation, awaitAgent })
  const versions = { qemu: release.qemuVersion, kernel: release.kernelVersion }
  if (choice.accelerator === 'tcg')
    logger.warn(
      { ...versions, reason: choice.reason },
      'microVMs are EMULATED on this host: they are many times slower, and isolated only by QEMU itself',
    )
  else logger.info(versions, 'microVMs run under KVM')
  const vmm = vmmWith(choice.accelerator)
  await removeOtherTrees(trees, new Set([tree.name, ...(await readUsedTrees(stateDir))]))
  const templates = await openTemplates({
    ...{ folder: join(folder, 'templates'), vmm, tree: tree.name, instance, awaitAgent, logger },
  })
  return { release, tree, choice, vmm, templates }
}
