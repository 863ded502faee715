/** The OCI configuration of a sandbox: its first process, mounts, namespaces and limits. */
import { availableParallelism } from 'node:os'
import type { SandboxSpec } from '@dock/runtime'
import { cgroupPathOf, cpuPeriodUs } from '../cgroup/sandbox-cgroup.ts'
import { capabilitiesOf, ociCapabilities } from './capabilities.ts'
import { firstProcessPath } from './first-process.ts'

/** CPU shares of a background boot. Every other sandbox has 1024. */
const backgroundShares = 128
/**
 * Processes and threads of a user inside: one per MiB, because a process takes up to 1 MiB. With 2,000 active processes
 * in 512 MiB, the sentry kills only about ten per second, and dies when the kernel has no memory left for another one.
 * The maximum leaves room for other sandboxes within the kernel's default of 32,768 pids.
 */
const processesMax = (memoryMiB: number): number => Math.min(8192, memoryMiB)
/**
 * Host processes and threads of the sandbox. Reaching this limit kills the sandbox, so the inner limit must hit first.
 */
const hostProcessesMax = (memoryMiB: number): number => Math.max(4096, 2 * processesMax(memoryMiB))
const inMemoryMiB = 32
const openFilesMax = 1_048_576

const tmpfs = (destination: string, ...options: string[]) => ({
  destination,
  type: 'tmpfs',
  source: 'tmpfs',
  options: ['nosuid', 'nodev', ...options],
})

/** What a boot needs to know. Without `netnsPath` the sandbox gets a network namespace without any device. */
export type BootSpec = Omit<SandboxSpec, 'dockId' | 'generation' | 'netnsPath' | 'nameserver'> & {
  netnsPath?: string
  /** Mounts the disk read-only. */
  isReadOnly?: boolean
}

const rootOf = ({ disk, isReadOnly = false }: BootSpec): object => {
  if (!('mount' in disk)) throw new Error('gVisor takes a mounted disk')
  return { path: disk.mount, readonly: isReadOnly }
}

/** The setgid bit gives new files the folder's group. */
const inMemory = ({ inMemory }: BootSpec) =>
  inMemory ? [tmpfs(inMemory.path, 'mode=2755', `gid=${inMemory.gid}`, `size=${inMemoryMiB}m`)] : []

/**
 * Returns the configuration for a boot. `id` is the sandbox's id, `init` the command of process 1, `cpus` the list of
 * processors that it boots on; undefined means all.
 */
export function ociConfig(spec: BootSpec, id: string, init: readonly string[], cpus?: string): object {
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: init,
      env: [
        `PATH=${firstProcessPath}`,
        ...Object.entries(spec.prepare?.env ?? {}).map(([name, value]) => `${name}=${value}`),
      ],
      cwd: '/',
      capabilities: ociCapabilities(capabilitiesOf(0)),
      rlimits: [
        { type: 'RLIMIT_NPROC', hard: processesMax(spec.memoryMiB), soft: processesMax(spec.memoryMiB) },
        { type: 'RLIMIT_NOFILE', hard: openFilesMax, soft: openFilesMax },
      ],
    },
    root: rootOf(spec),
    hostname: spec.hostname,
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
      { destination: '/sys', type: 'sysfs', source: 'sysfs', options: ['nosuid', 'noexec', 'nodev', 'ro'] },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      { destination: '/dev/pts', type: 'devpts', source: 'devpts', options: ['nosuid', 'noexec'] },
      tmpfs('/dev/shm', 'mode=1777', `size=${Math.max(64, Math.floor(spec.memoryMiB / 4))}m`),
      tmpfs('/run', 'mode=755', `size=${Math.max(32, Math.floor(spec.memoryMiB / 8))}m`),
      tmpfs('/run/lock', 'mode=1777', 'size=5m'),
      ...inMemory(spec),
    ],
    linux: {
      cgroupsPath: cgroupPathOf(id),
      resources: {
        // A boot may use all processors: within the Dock's limit it would spend half of its time waiting. The Dock's
        // limit is set after the boot.
        cpu: {
          ...{ period: cpuPeriodUs, quota: availableParallelism() * cpuPeriodUs },
          ...(spec.inBackground ? { shares: backgroundShares } : {}),
          ...(cpus === undefined ? {} : { cpus }),
        },
        memory: { limit: spec.memoryMiB * 1024 * 1024 },
        pids: { limit: hostProcessesMax(spec.memoryMiB) },
      },
      namespaces: [
        { type: 'pid' },
        { type: 'mount' },
        { type: 'uts' },
        { type: 'ipc' },
        { type: 'network', ...(spec.netnsPath === undefined ? {} : { path: spec.netnsPath }) },
      ],
    },
  }
}
