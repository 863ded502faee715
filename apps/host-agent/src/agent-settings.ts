/** The agent's configuration, from the environment. */
import { totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { poolSizeMax } from '@dock/host-protocol'
import * as z from 'zod'
import type { CopyPace } from './copies/copy-capture.ts'
import type { NetworkLimits } from './network/filter-rules.ts'

/** Left for control plane, agent and PostgreSQL: an eighth of the machine, from 768 MiB to 8 GiB. */
const defaultPlatformMiB = (totalBytes: number): number =>
  Math.round(Math.min(8192, Math.max(768, totalBytes / 8 / 2 ** 20)))

const environment = z.object({
  DOCK_CONTROL_URL: z.url({ protocol: /^(https?|unix)$/ }).default('http://127.0.0.1:8080'),
  DOCK_HOST_DIR: z.string().min(1).default('.dock/host'),
  DOCK_JOIN_TOKEN_FILE: z.string().min(1).optional(),
  DOCK_RUNSC: z.string().min(1).optional(),
  DOCK_RUN_DIR: z.string().min(1).optional(),
  DOCK_COPY_MIB_PER_SECOND: z.coerce.number().positive().default(64),
  DOCK_WARM_POOL: z.coerce.number().int().min(0).max(poolSizeMax).default(16),
  DOCK_PLATFORM_MEMORY_MIB: z.coerce.number().int().min(256).default(defaultPlatformMiB(totalmem())),
  DOCK_CONNECTIONS_PER_DOCK: z.coerce.number().int().min(16).max(200_000).default(4096),
  DOCK_NEW_CONNECTIONS_PER_SECOND: z.coerce.number().int().min(1).max(100_000).default(500),
  DOCK_NAMES_PER_SECOND: z.coerce.number().int().min(1).max(100_000).default(200),
  DOCK_CONTROL_SOCKET: z.enum(['on', 'off']).default('on'),
  DOCK_PLAIN_HTTP: z.enum(['on', 'off']).default('off'),
})

/** Whether what is sent to the address stays on this machine. */
const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)

const requireSafeAddress = (address: string, isPlainAllowed: boolean): void => {
  const url = new URL(address)
  if (url.protocol !== 'http:' || isLoopback(url) || isPlainAllowed) return
  throw new Error(
    `DOCK_CONTROL_URL is ${url.origin}: over plain http whoever is on the way can command this host as root. Give Dock an https address, or set DOCK_PLAIN_HTTP=on where nobody else is on the network.`,
  )
}

export type AgentSettings = {
  /** An http or https address, or `unix:/path/of/socket` of the control plane on this machine. */
  controlUrl: string
  /** Absolute; everything the agent keeps is below it. */
  hostFolder: string
  /** Where an operator puts a join token. */
  joinTokenFile: string
  runscPath: string
  /** For what need not outlive the machine's boot. */
  runFolder: string
  /** Whether commands may go over the sentries' control sockets, where that proves itself. */
  controlSocket: boolean
  /** Sandboxes that are kept ready at most. */
  warmPoolSize: number
  /** What all Docks together may use of this machine's memory. */
  docksMemoryBytes: number
  /** What one Dock may use of the host's network. */
  networkLimits: NetworkLimits
  /** What durable copies may read of this host's disks. */
  copyPace: CopyPace
}

/** Throws, naming the variable, when one is not understood. */
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
    runscPath: data.DOCK_RUNSC ?? join(hostFolder, 'bin/runsc'),
    runFolder: data.DOCK_RUN_DIR ?? join(hostFolder, 'run'),
    controlSocket: data.DOCK_CONTROL_SOCKET === 'on',
    warmPoolSize: data.DOCK_WARM_POOL,
    docksMemoryBytes: Math.max(totalmem() / 4, totalmem() - data.DOCK_PLATFORM_MEMORY_MIB * 2 ** 20),
    networkLimits: {
      connections: data.DOCK_CONNECTIONS_PER_DOCK,
      newConnectionsPerSecond: data.DOCK_NEW_CONNECTIONS_PER_SECOND,
      namesPerSecond: data.DOCK_NAMES_PER_SECOND,
    },
    copyPace: { bytesPerSecond: data.DOCK_COPY_MIB_PER_SECOND * 2 ** 20 },
  }
}
