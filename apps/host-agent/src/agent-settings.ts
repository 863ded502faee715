/** The agent's configuration, from the environment. */
import { totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { warmPoolSizeMax } from '@dock/host-protocol'
import type { RuntimeDriver } from '@dock/runtime'
import * as z from 'zod'
import type { CopyPace } from './disks/copies/copy-capture.ts'
import { defaultNetworkLimits, type NetworkLimits } from './network/filter-rules.ts'

/** Memory reserved for the control plane, the agent and PostgreSQL: 1/8 of the machine, between 768 MiB and 8 GiB. */
const defaultPlatformMiB = (totalBytes: number): number =>
  Math.round(Math.min(8192, Math.max(768, totalBytes / 8 / 2 ** 20)))

const environment = z.object({
  DOCK_CONTROL_URL: z.url({ protocol: /^(https?|unix)$/ }).default('http://127.0.0.1:8080'),
  DOCK_HOST_DIR: z.string().min(1).default('.dock/host'),
  DOCK_JOIN_TOKEN_FILE: z.string().min(1).optional(),
  DOCK_RUN_DIR: z.string().min(1).optional(),
  DOCK_COPY_MIB_PER_SECOND: z.coerce.number().positive().default(64),
  DOCK_WARM_POOL: z.coerce.number().int().min(0).max(warmPoolSizeMax).default(16),
  DOCK_PLATFORM_MEMORY_MIB: z.coerce.number().int().min(256).default(defaultPlatformMiB(totalmem())),
  DOCK_CONNECTIONS_PER_DOCK: z.coerce.number().int().min(16).max(200_000).default(4096),
  DOCK_TUNE_KERNEL: z.enum(['on', 'off']).default('on'),
  DOCK_PLAIN_HTTP: z.enum(['on', 'off']).default('off'),
  DOCK_RUNTIME: z.enum(['gvisor', 'microvm']).default('gvisor'),
})

/** True if the address refers to this machine, so that traffic to it never reaches a network. */
const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)

const requireSafeAddress = (address: string, isPlainAllowed: boolean): void => {
  const url = new URL(address)
  if (url.protocol !== 'http:' || isLoopback(url) || isPlainAllowed) return
  throw new Error(
    `DOCK_CONTROL_URL is ${url.origin}: over plain http anyone on the network path can run commands on this host as root. Use an https address, or set DOCK_PLAIN_HTTP=on if you trust everyone on this network.`,
  )
}

export type AgentSettings = {
  /** An http or https address, or `unix:/path/of/socket` for a control plane on this machine. */
  controlUrl: string
  /** Absolute path. The agent keeps all its files below this folder. */
  hostFolder: string
  /** File in which an operator puts a join token. */
  joinTokenFile: string
  /** Folder for files that may be lost when the machine reboots. */
  runFolder: string
  /** What runs the Docks of this host. */
  runtime: RuntimeDriver['name']
  /** The environment, from which the runtime driver reads its own settings. */
  variables: NodeJS.ProcessEnv
  /** Maximum number of sandboxes in the warm pool. */
  warmPoolSize: number
  /** Memory limit for all Docks of this machine together. */
  docksMemoryBytes: number
  /** Network limits of each Dock. */
  networkLimits: NetworkLimits
  /** How fast durable copies may read this host's disks. */
  copyPace: CopyPace
  /** Whether the agent may change the kernel's limits of dirty memory and its switch for RCU grace periods. */
  tuneKernel: boolean
}

/** Reads and checks the settings. Throws an error that names the variable if a value is invalid. */
export function readAgentSettings(variables: NodeJS.ProcessEnv): AgentSettings {
  const parsed = environment.safeParse(variables)
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error))
  const { data } = parsed
  requireSafeAddress(data.DOCK_CONTROL_URL, data.DOCK_PLAIN_HTTP === 'on')
  const hostFolder = resolve(data.DOCK_HOST_DIR)
  return {
    controlUrl: data.DOCK_CONTROL_URL,
    hostFolder,
    joinTokenFile: resolve(data.DOCK_JOIN_TOKEN_FILE ?? join(hostFolder, 'join-token')),
    runFolder: data.DOCK_RUN_DIR ?? join(hostFolder, 'run'),
    runtime: data.DOCK_RUNTIME,
    variables,
    warmPoolSize: data.DOCK_WARM_POOL,
    docksMemoryBytes: Math.max(totalmem() / 4, totalmem() - data.DOCK_PLATFORM_MEMORY_MIB * 2 ** 20),
    networkLimits: { ...defaultNetworkLimits, connections: data.DOCK_CONNECTIONS_PER_DOCK },
    tuneKernel: data.DOCK_TUNE_KERNEL === 'on',
    copyPace: { bytesPerSecond: data.DOCK_COPY_MIB_PER_SECOND * 2 ** 20 },
  }
}
