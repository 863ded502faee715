/** The OCI configuration of a sandbox: what its first process is, what it sees, what it may use. */
import { availableParallelism } from 'node:os'
import type { SandboxSpec } from '@dock/runtime'
import { capabilitiesOf, ociCapabilities } from './capabilities.ts'
import { cgroupPathOf, cpuPeriodUs } from './sandbox-cgroup.ts'

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** Of the 1024 that every other sandbox has. */
const backgroundShares = 128
/**
 * Processes and threads of one user inside: one for each MiB, because a process takes up to that. With two thousand at
 * work in 512 MiB the sentry ends only some ten of them in a second, and dies when the kernel has no memory left for one
 * more. The most that is given leaves room for others among the 32,768 numbers that a kernel has unless told otherwise.
 */
const processesMax = (memoryMiB: number): number => Math.min(8192, memoryMiB)
/** Host processes and threads of the sandbox itself: few of them kill it, so the inner limit is the one that bites. */
const hostProcessesMax = (memoryMiB: number): number => Math.max(4096, 2 * processesMax(memoryMiB))
const inMemoryMiB = 32
const openFilesMax = 1_048_576

const tmpfs = (destination: string, ...options: string[]) => ({
  destination,
  type: 'tmpfs',
  source: 'tmpfs',
  options: ['nosuid', 'nodev', ...options],
})

/** Made with the group's bit of the folder, new files have its group without another program. */
const inMemory = ({ inMemory }: SandboxSpec) =>
  inMemory ? [tmpfs(inMemory.path, 'mode=2755', `gid=${inMemory.gid}`, `size=${inMemoryMiB}m`)] : []

/** The configuration for one boot. `init` is the command of process 1; `id` the sandbox's id. */
export function ociConfig(spec: SandboxSpec, id: string, init: readonly string[]): object {
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: init,
      env: [
        `PATH=${defaultPath}`,
        ...Object.entries(spec.prepare?.env ?? {}).map(([name, value]) => `${name}=${value}`),
      ],
      cwd: '/',
      capabilities: ociCapabilities(capabilitiesOf(0)),
      rlimits: [
        { type: 'RLIMIT_NPROC', hard: processesMax(spec.memoryMiB), soft: processesMax(spec.memoryMiB) },
        { type: 'RLIMIT_NOFILE', hard: openFilesMax, soft: openFilesMax },
      ],
    },
    root: { path: spec.rootPath, readonly: false },
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
        // A boot has the whole machine: half of it waits otherwise. Its own limit is set when it is up.
        cpu: {
          ...{ period: cpuPeriodUs, quota: availableParallelism() * cpuPeriodUs },
          ...(spec.inBackground ? { shares: backgroundShares } : {}),
        },
        memory: { limit: spec.memoryMiB * 1024 * 1024 },
        pids: { limit: hostProcessesMax(spec.memoryMiB) },
      },
      namespaces: [
        { type: 'pid' },
        { type: 'mount' },
        { type: 'uts' },
        { type: 'ipc' },
        { type: 'network', path: spec.netnsPath },
      ],
    },
  }
}
