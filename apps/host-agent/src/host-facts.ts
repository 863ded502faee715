/** Facts about this machine that the agent reports to the control plane. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { cpus, release, totalmem, type } from 'node:os'
import { type HostFacts, type Pressure, usualHeadroomMiB } from '@dock/host-protocol'
import type { RuntimeDriver } from '@dock/runtime'
import type { DiskPool } from './disks/pool.ts'

/** Maximum number of Docks on one host. */
const maxDocks = 200

/** Returns the kernel's boot id, which changes with every reboot. */
export async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
}

const field = (text: string, name: string): string =>
  new RegExp(`^${name}\\s*:\\s*(.+)$`, 'm').exec(text)?.[1]?.trim() ?? ''

/** Returns vendor, family and model: hosts with the same value can run each other's binaries. */
const readCpuFamily = async (): Promise<string> => {
  const text = await readFile('/proc/cpuinfo', 'utf8')
  const parts = [field(text, 'vendor_id'), field(text, 'cpu family'), field(text, 'model')]
  return parts.filter((part) => part !== '').join('-') || process.arch
}

/** Reads the facts again on each call: images and the pool's size can change while the agent runs. */
export async function readHostFacts({
  driver,
  disks,
  bootId,
  isEmulated,
}: {
  driver: RuntimeDriver
  disks: DiskPool
  bootId: string
  isEmulated: boolean
}): Promise<HostFacts> {
  const [images, cpuFamily, runtimeRelease] = await Promise.all([
    disks.images(),
    readCpuFamily(),
    // Somebody may just be replacing the program.
    driver.readRelease().catch(() => undefined),
  ])
  return {
    runtime: driver.name,
    cpuFamily,
    kernel: type(),
    kernelRelease: release(),
    bootId,
    vcpuTotal: cpus().length,
    memTotalBytes: totalmem(),
    diskTotalBytes: disks.room().totalBytes,
    maxDocks,
    images: [...images.keys()],
    imageVersions: Object.fromEntries(images),
    // An earlier control plane refuses this fact, and takes the usual value for every host.
    ...(driver.memoryHeadroomMiB === usualHeadroomMiB
      ? {}
      : { sandboxHeadroomMiB: driver.memoryHeadroomMiB }),
    ...(runtimeRelease && { runtimeRelease }),
    ...(isEmulated ? { isEmulated } : {}),
  }
}

/** Returns the machine's available and total memory. */
export function readMemory(): { availableBytes: number; totalBytes: number } {
  const text = readFileSync('/proc/meminfo', 'utf8')
  const bytes = (name: string) => Number.parseInt(field(text, name), 10) * 1024
  return { availableBytes: bytes('MemAvailable'), totalBytes: bytes('MemTotal') }
}

/** Returns how much memory and pool space are available. */
export function readPressure(disks: DiskPool): Pressure {
  return {
    memAvailableBytes: readMemory().availableBytes,
    diskFreeBytes: disks.room().freeBytes,
  }
}
