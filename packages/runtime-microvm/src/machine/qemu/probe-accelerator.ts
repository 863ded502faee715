/**
 * Finds out how machines run here: a guest boots under KVM, with the real kernel and agent, or it is emulated. A device
 * /dev/kvm alone says little: in some virtual machines it exists, but runs no ordinary kernel.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Machine, Vmm } from '../machine.ts'

export type AcceleratorChoice = {
  accelerator: 'kvm' | 'tcg'
  /** Why KVM is not used; empty if it is. */
  reason: string
}

export type ProbeOptions = {
  /** Returns a monitor that runs machines under KVM, or null if there is no such device. */
  kvm: Vmm | null
  /** Folder for the disk of the machine that is booted. */
  folder: string
  /** Distinguishes that machine from those of other agents on this host. */
  instance: string
  /** True if machines may be emulated, which is slow, and isolates less than hardware does. */
  allowsEmulation: boolean
  /** Resolves when the guest's agent waits for its configuration. */
  awaitAgent: (machine: Machine) => Promise<void>
  deadlineMs?: number
}

const deadlineMsDefault = 3_000
const memoryMiB = 256
const diskBytes = 2 ** 20

/** Throws an error that says what to do if machines would be emulated and may not be. */
export async function probeAccelerator(options: ProbeOptions): Promise<AcceleratorChoice> {
  const reason = options.kvm ? await bootOnce(options.kvm, options) : 'this machine has no usable /dev/kvm'
  if (reason === '') return { accelerator: 'kvm', reason }
  if (options.allowsEmulation) return { accelerator: 'tcg', reason }
  throw new Error(
    `microVMs cannot use KVM here: ${reason}. Use a machine with hardware virtualization, or DOCK_RUNTIME=gvisor. ` +
      'For tests, DOCK_MICROVM_TCG=allow emulates the processor, which is many times slower.',
  )
}

/** Returns why a guest does not boot, or an empty text. */
const bootOnce = async (vmm: Vmm, options: ProbeOptions): Promise<string> => {
  const { folder, instance, awaitAgent, deadlineMs = deadlineMsDefault } = options
  const id = `probe-${instance}`
  const disk = join(folder, `${id}.disk`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(disk, Buffer.alloc(diskBytes))
  await vmm.remove(id)
  const waiting = new AbortController()
  try {
    const machine = await vmm.launch({ id, cpus: 1, memoryMiB, disk, netnsPath: null })
    const answered = awaitAgent(machine).then(() => '')
    answered.catch(() => undefined)
    return await Promise.race([
      answered,
      machine.ended.then((words) => `QEMU ended: ${words}`),
      delay(deadlineMs, `a guest does not boot within ${deadlineMs / 1000} s`, { signal: waiting.signal }),
    ])
  } catch (error) {
    return (error as Error).message
  } finally {
    waiting.abort()
    await vmm.remove(id)
    await rm(disk, { force: true })
  }
}
