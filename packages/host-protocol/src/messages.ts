/** Messages of commands to Docks, of events, of refusals, and of a host's registration. */
import { dockSample, limits, runtimeName } from '@dock/contract'
import * as z from 'zod'
import { boundedList, boundedTable } from './bounded.ts'
import { dockText } from './dock-text.ts'
import { secretFiles } from './environment-messages.ts'
import { watermark } from './quarantine-messages.ts'
import { gitConnected } from './repository-messages.ts'
import { dockVariables } from './setup-messages.ts'
import { warmPoolSizeMax, warmSandbox } from './warm-pool-messages.ts'

const uuid = z.uuid().lowercase()
const generation = z.number().int().min(1)
/** The epoch of the instance that ordered the destruction. An order from an earlier epoch is refused. */
export const epoch = z.number().int().min(0)
const command = { operationId: z.string(), generation }

/** Maximum bytes of one line of events. */
export const eventBytesMax = 4 * 2 ** 20
/** More than any host has. These limits bound the memory that a hostile host's reports can take. */
export const runtimesMax = 10_000
const capturesMax = 50_000
/** With more captures than this, the agent omits them from its inventories. GET /captures then lists them. */
export const capturesInInventoryMax = 10_000
const imagesMax = 200
const factText = z.string().max(1_000)
const count = z.number().int().min(0)

/** The source of a Dock's disk. `own` is the disk that this host kept for the Dock, for a boot after a shutdown. */
export const diskSource = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('image'), image: z.string() }),
  z.object({ kind: z.literal('capture'), captureId: uuid }),
  z.object({ kind: z.literal('own') }),
])
export type DiskSource = z.infer<typeof diskSource>

export const startDock = z.object({
  ...command,
  hostname: z.string(),
  cpus: z.number().int(),
  memoryMiB: z.number().int(),
  diskGiB: z.number().int(),
  source: diskSource,
  /** True if the disk belonged to another Dock: machine-id and SSH host keys are regenerated. */
  newIdentity: z.boolean(),
  /** The owning organization. The host stores it with the disk, in case a restored database does not know the Dock. */
  organizationId: uuid.optional(),
  env: dockVariables.optional(),
  /** Secret files; absent if neither this start nor an earlier one had any. */
  files: secretFiles.optional(),
})
export type StartDock = z.infer<typeof startDock>
export const startedDock = z.object({ ip: z.string() })
export type StartedDock = z.infer<typeof startedDock>

export const stopDock = z.object({ ...command, captureId: uuid.nullable() })
export type StopDock = z.infer<typeof stopDock>

export const captureDock = z.object({ ...command, captureId: uuid })
export type CaptureDock = z.infer<typeof captureDock>
export const captured = z.object({
  sizeBytes: count,
  /** The sandbox did not write what it had in memory: the disk is as after a power cut. */
  afterPowerCut: z.literal(true).optional(),
})
export type Captured = z.infer<typeof captured>
/** The response of a stop; `capture` is null if the stop had no `captureId`. */
export const stoppedDock = z.object({ capture: captured.nullable() })
export type StoppedDock = z.infer<typeof stoppedDock>

export const destroyDock = z.object({
  ...command,
  epoch: epoch.optional(),
  keepOlder: z.literal(true).optional(),
})
export type DestroyDock = z.infer<typeof destroyDock>

export const destroyCapture = z.object({ operationId: z.string(), epoch: epoch.optional() })

export const execInDock = z.object({
  generation,
  command: z.string(),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
  timeoutMs: z.number().int(),
  outputLimitBytes: z.number().int(),
  /** Ends the command with everything it started as soon as the call is cancelled, or the link breaks. */
  endsWithCaller: z.literal(true).optional(),
})
export type ExecInDock = z.infer<typeof execInDock>
/** stdout and stderr are clipped, and decoded as UTF-8 with replacement characters. */
export const execOutcome = z.object({
  exitCode: z.number().int(),
  stdout: z.string().max(limits.exec.outputBytesMax),
  stderr: z.string().max(limits.exec.outputBytesMax),
  durationMs: z.number().int(),
  truncated: z.boolean(),
  timedOut: z.boolean(),
})
export type ExecOutcome = z.infer<typeof execOutcome>

/**
 * The agent's view of a runtime. `running`: the sandbox is alive. `stopped` and `dead`: only the disk is kept. `ended`
 * is the reason: the sandbox died on its own, was ended by order (a stop or a clean shutdown of the host), or the
 * machine rebooted.
 */
export const runtimeReport = z.object({
  dockId: uuid,
  generation: z.number().int(),
  state: z.enum(['starting', 'running', 'stopped', 'dead']),
  ended: z.enum(['died', 'ordered', 'reboot']).optional(),
  ip: z.string().max(45).nullable(),
  /** Number of kept processes that run in the Dock. */
  processes: count.max(1_000).optional(),
})
export type RuntimeReport = z.infer<typeof runtimeReport>

/** What a sandbox of a host that does not say it may take beyond the size of its Dock. */
export const usualHeadroomMiB = 128

/** The release of the runtime that new Docks get. */
const runtimeRelease = z.object({
  version: factText,
  source: factText.optional(),
  releasedAt: z.iso.date().optional(),
})

export const hostFacts = z.object({
  runtime: runtimeName,
  cpuFamily: factText,
  kernel: factText,
  kernelRelease: factText,
  bootId: factText,
  vcpuTotal: count.max(100_000),
  memTotalBytes: count,
  diskTotalBytes: count,
  maxDocks: count.max(runtimesMax),
  images: boundedList(z.string().max(64), imagesMax),
  /** Versions by image name: the digest of a published version, or `built:` and the input this host built it from. */
  imageVersions: boundedTable(z.string().max(200), imagesMax),
  /** Memory that a sandbox may take beyond the size of its Dock. Earlier agents do not say it: it was 128 MiB. */
  sandboxHeadroomMiB: count.max(65_536).optional(),
  /** Earlier agents do not say it. */
  runtimeRelease: runtimeRelease.optional(),
  /** The runtime emulates the processor, so Docks are many times slower. */
  isEmulated: z.literal(true).optional(),
})
export type HostFacts = z.infer<typeof hostFacts>

export const pressure = z.object({
  memAvailableBytes: count,
  diskFreeBytes: count,
})
export type Pressure = z.infer<typeof pressure>

/** A Dock's usage, with the generation of the boot and the size of its filesystem. */
export const usageSample = z.object({
  ...dockSample.shape,
  generation,
  diskLimit: z.number().int().min(0),
})
export type UsageSample = z.infer<typeof usageSample>

/**
 * The events of a host, each a line of at most {@link eventBytesMax}:
 * - `inventory`: first, then every minute, and when the host's images have changed
 * - `heartbeat`: every few seconds
 * - `dock.died`: a sandbox ended without an order
 * - `pool.ready`, `pool.gone`: a sandbox of the warm pool became claimable, or stopped being claimable other than by a
 *   claim
 * - `dock.out_of_memory`: processes in the Dock were killed, or its sandbox died (`process` is null)
 * - `dock.processes`: the number of kept processes that run in a Dock has changed
 * - `git.connected`: git in a Dock connected to its git door
 * - `samples`: the usage of every Dock, every ten seconds
 */
export const hostEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('inventory'),
    facts: hostFacts,
    pressure,
    runtimes: boundedList(runtimeReport, runtimesMax),
    /** Docks whose disk the host keeps without knowing their generation, such as after it lost its records of them. */
    unidentified: boundedList(uuid, runtimesMax).optional(),
    /** The warm pool. It is not included in `runtimes`. */
    pool: boundedList(warmSandbox, warmPoolSizeMax),
    /** Null if there are more than {@link capturesInInventoryMax}. GET /captures then lists them. */
    captures: boundedList(uuid, capturesMax).nullable(),
    /** The watermark of the instance that the host has stored. */
    remembered: watermark.nullable().optional(),
  }),
  z.object({ type: z.literal('heartbeat'), pressure, running: count.max(runtimesMax) }),
  z.object({ type: z.literal('dock.died'), dockId: uuid, generation: z.number().int() }),
  z.object({
    type: z.literal('dock.out_of_memory'),
    dockId: uuid,
    generation: z.number().int(),
    /** Name of the first process that was killed, chosen by its program; null if the sandbox died. */
    process: z.string().max(64).nullable(),
    /** Number of processes that were killed within a few seconds. */
    count: z.number().int().min(1),
  }),
  z.object({
    type: z.literal('dock.processes'),
    dockId: uuid,
    generation: z.number().int(),
    running: count.max(1_000),
  }),
  z.object({ type: z.literal('pool.ready'), dock: warmSandbox }),
  z.object({ type: z.literal('pool.gone'), dockId: uuid }),
  gitConnected,
  z.object({ type: z.literal('samples'), samples: boundedList(usageSample, runtimesMax) }),
])
export type HostEvent = z.infer<typeof hostEvent>

/**
 * An agent's refusal, `{code, message}`: HTTP 409 (`busy`, `conflict`, `stale_generation`, `not_running`), 404 (`not_found`), 400
 * (`invalid`), 507 (`no_space`), 503 (`frozen`: all Docks are frozen until the disk pool has room again), 501
 * (`unsupported` by this runtime), 500 (`failed`).
 */
export const agentErrorCode = z.enum([
  'invalid',
  'not_found',
  'not_running',
  'busy',
  /** The state of the thing does not allow it, such as input at an offset that leaves a gap. */
  'conflict',
  'stale_generation',
  'no_space',
  /** Stored bytes failed their verification. */
  'damaged',
  'frozen',
  'unsupported',
  'exec_refused',
  /** The sandbox ran out of memory and died while the command ran. */
  'out_of_memory',
  'failed',
])
export type AgentErrorCode = z.infer<typeof agentErrorCode>
export const agentError = z.object({ code: agentErrorCode, message: dockText(2000) })

/**
 * POST {control plane}/v1/fleet/register, sent by the agent: exchanges a join token for a credential. A host that
 * registers again sends its id, and proves it with the credential of its last link, even if that was revoked since.
 */
export const registerHost = z.object({
  joinToken: z.string(),
  hostId: z.string().optional(),
  formerCredential: z.string().optional(),
  facts: hostFacts,
})
export type RegisterHost = z.infer<typeof registerHost>
export const registeredHost = z.object({ hostId: z.string(), credential: z.string() })
export type RegisteredHost = z.infer<typeof registeredHost>
