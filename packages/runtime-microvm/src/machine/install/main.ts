/** Called by script/install/microvm: PACKAGES INTO ID QEMU_VERSION KERNEL_VERSION KERNEL_NAME. */
import { assembleRelease } from './assemble-release.ts'

const [packages, into, id, qemuVersion, kernelVersion, kernelName] = process.argv.slice(2)
if (!packages || !into || !id || !qemuVersion || !kernelVersion || !kernelName)
  throw new Error('usage: main.ts PACKAGES INTO ID QEMU_VERSION KERNEL_VERSION KERNEL_NAME')
await assembleRelease({ packages, id, qemuVersion, kernelVersion, kernelName }, into)
