/**
 * What control plane and host agent say to each other. The control plane is the HTTP/2 client; each message below is
 * the JSON body or answer of one path of the agent. A command carries operation id and generation: repeating it is
 * harmless, an old generation is refused (`stale_generation`).
 */
import { dockSample, limits } from '@dock/contract'
import * as z from 'zod'
import { boundedList, boundedTable } from './bounded.ts'
import { dockText } from './dock-text.ts'
import { secretFiles } from './environment-messages.ts'
import { poolReport, poolSizeMax } from './pool-messages.ts'
import { watermark } from './quarantine-messages.ts'
import { gitConnected } from './repository-messages.ts'
import { dockVariables } from './setup-messages.ts'

const uuid = z.uuid().lowercase()
const generation = z.number().int().min(1)
/** The instance's epoch in which an order to destroy was given; one that is over is refused. */
const epoch = z.number().int().min(0)
const command = { operationId: z.string(), generation }

/** Bytes of one line of events. */
export const eventBytesMax = 4 * 2 ** 20
/** More than any host has; they keep what a hostile one reports within what a process can hold. */
const runtimesMax = 10_000
const capturesMax = 50_000
/** An agent that keeps more captures names none of them in an inventory, and lists them when it is asked. */
export const capturesInInventoryMax = 10_000
const imagesMax = 200
const factText = z.string().max(1_000)
const count = z.number().int().min(0)

/** Where a Dock's disk comes from. `own`: the disk that this host kept for the Dock (a boot after a shutdown). */
export const diskSource = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('image'), image: z.string() }),
  z.strictObject({ kind: z.literal('capture'), captureId: uuid }),
  z.strictObject({ kind: z.literal('own') }),
])
export type DiskSource = z.infer<typeof diskSource>

/** POST /docks/:dockId/start: disk, network, sandbox; answers when a command can be run. */
export const startDock = z.strictObject({
  ...command,
  hostname: z.string(),
  cpus: z.number().int(),
  memoryMiB: z.number().int(),
  diskGiB: z.number().int(),
  source: diskSource,
  /** The disk was another Dock's: machine-id and SSH host keys are made anew. */
  newIdentity: z.boolean(),
  /** Whose Dock it is: the host notes it beside the disk, for a database that does not know the Dock. */
  organizationId: uuid.optional(),
  env: dockVariables.optional(),
  /** Secret files; absent where neither this start nor one before had any. */
  files: secretFiles.optional(),
})
export type StartDock = z.infer<typeof startDock>
export const startedDock = z.strictObject({ ip: z.string() })
export type StartedDock = z.infer<typeof startedDock>

/** POST /docks/:dockId/stop: ends the sandbox; with `captureId`, the disk is captured and synced first, then removed. */
export const stopDock = z.strictObject({ ...command, captureId: uuid.nullable() })
export type StopDock = z.infer<typeof stopDock>

/** POST /docks/:dockId/capture: captures the disk of a running Dock, which goes on. */
export const captureDock = z.strictObject({ ...command, captureId: uuid })
export type CaptureDock = z.infer<typeof captureDock>
export const captured = z.strictObject({ sizeBytes: count })
export type Captured = z.infer<typeof captured>
/** Answer of a stop: null when nothing was to be captured. */
export const stoppedDock = z.strictObject({ capture: captured.nullable() })
export type StoppedDock = z.infer<typeof stoppedDock>

/** POST /docks/:dockId/destroy: sandbox, network and disk go; captures stay. Answers `{}`. */
export const destroyDock = z.strictObject({ ...command, epoch: epoch.optional() })
export type DestroyDock = z.infer<typeof destroyDock>

/** POST /captures/:captureId/destroy: removes one capture; absent is fine. Answers `{}`. */
export const destroyCapture = z.strictObject({ operationId: z.string(), epoch: epoch.optional() })

/** POST /docks/:dockId/exec: runs one command under a login bash as the Dock user. */
export const execInDock = z.strictObject({
  generation,
  command: z.string(),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
  timeoutMs: z.number().int(),
  outputLimitBytes: z.number().int(),
})
export type ExecInDock = z.infer<typeof execInDock>
/** stdout and stderr decoded as UTF-8 with replacement, already clipped. */
export const execOutcome = z.strictObject({
  exitCode: z.number().int(),
  stdout: z.string().max(limits.exec.outputBytesMax),
  stderr: z.string().max(limits.exec.outputBytesMax),
  durationMs: z.number().int(),
  truncated: z.boolean(),
  timedOut: z.boolean(),
})
export type ExecOutcome = z.infer<typeof execOutcome>

/**
 * One runtime as the agent knows it. `running`: a sandbox is alive; `stopped` and `dead`: only its disk is kept. `ended`
 * tells why: it died by itself, was ended by order (a stop, a clean shutdown of the host), or by the machine's reboot.
 */
export const runtimeReport = z.strictObject({
  dockId: uuid,
  generation: z.number().int(),
  state: z.enum(['starting', 'running', 'stopped', 'dead']),
  ended: z.enum(['died', 'ordered', 'reboot']).optional(),
  ip: z.string().max(45).nullable(),
})
export type RuntimeReport = z.infer<typeof runtimeReport>

export const hostFacts = z.strictObject({
  runtime: z.enum(['gvisor', 'microvm']),
  cpuFamily: factText,
  kernel: factText,
  kernelRelease: factText,
  bootId: factText,
  vcpuTotal: count.max(100_000),
  memTotalBytes: count,
  diskTotalBytes: count,
  maxDocks: count.max(runtimesMax),
  images: boundedList(z.string().max(64), imagesMax),
  /** By an image's name: the digest of the published version, or `built:` and what this host built it from. */
  imageVersions: boundedTable(z.string().max(200), imagesMax),
})
export type HostFacts = z.infer<typeof hostFacts>

export const pressure = z.strictObject({
  memAvailableBytes: count,
  diskFreeBytes: count,
})
export type Pressure = z.infer<typeof pressure>

/** What a Dock uses, with the boot that used it and the room that its filesystem has. */
export const usageSample = z.strictObject({
  ...dockSample.shape,
  generation,
  diskLimit: z.number().int().min(0),
})
export type UsageSample = z.infer<typeof usageSample>

/**
 * GET /events: a stream of lines of JSON, each of at most {@link eventBytesMax}, that lasts as long as the session. The first is an inventory; one follows
 * each minute; a heartbeat every few seconds; `dock.died` as soon as a sandbox ended without an order; `pool.ready` and
 * `pool.gone` as soon as a sandbox of the warm pool can be claimed, or no longer can (a claim is no such event);
 * `dock.out_of_memory` when a Dock ran out of memory: processes in it were ended, or its sandbox died (`process` null);
 * `git.connected` when git in a Dock connects to its door; `samples` of every Dock's usage each ten seconds.
 */
export const hostEvent = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('inventory'),
    facts: hostFacts,
    pressure,
    runtimes: boundedList(runtimeReport, runtimesMax),
    /** The warm pool, which is not among the runtimes. */
    pool: boundedList(poolReport, poolSizeMax),
    /** Null: more than {@link capturesInInventoryMax}. GET /captures lists them. */
    captures: boundedList(uuid, capturesMax).nullable(),
    /** What the host remembers of the instance. */
    remembered: watermark.nullable().optional(),
  }),
  z.strictObject({ type: z.literal('heartbeat'), pressure, running: count.max(runtimesMax) }),
  z.strictObject({ type: z.literal('dock.died'), dockId: uuid, generation: z.number().int() }),
  z.strictObject({
    type: z.literal('dock.out_of_memory'),
    dockId: uuid,
    generation: z.number().int(),
    /** Name of the first process that was ended, as its program chose it; null when the sandbox died. */
    process: z.string().max(64).nullable(),
    /** Processes that were ended within some seconds. */
    count: z.number().int().min(1),
  }),
  z.strictObject({ type: z.literal('pool.ready'), dock: poolReport }),
  z.strictObject({ type: z.literal('pool.gone'), dockId: uuid }),
  gitConnected,
  z.strictObject({ type: z.literal('samples'), samples: boundedList(usageSample, runtimesMax) }),
])
export type HostEvent = z.infer<typeof hostEvent>

/**
 * An agent's refusal: HTTP 409 (`busy`, `stale_generation`, `not_running`), 404 (`not_found`), 400
 * (`invalid`), 507 (`no_space`), 503 (`frozen`: every Dock stands still until the pool has room again), 501
 * (`unsupported`: not with this runtime), 500 (`failed`), as `{code, message}`.
 */
export const agentErrorCode = z.enum([
  'invalid',
  'not_found',
  'not_running',
  'busy',
  'stale_generation',
  'no_space',
  /** Stored bytes are not what they should be. */
  'damaged',
  'frozen',
  'unsupported',
  'exec_refused',
  /** The sandbox died for want of memory while the command ran. */
  'out_of_memory',
  'failed',
])
export type AgentErrorCode = z.infer<typeof agentErrorCode>
export const agentError = z.strictObject({ code: agentErrorCode, message: dockText(2000) })

/**
 * POST {control plane}/v1/fleet/register by the agent: a join token for a credential. A host that enrols again names
 * itself and proves it by the credential it last linked with, good or not.
 */
export const registerHost = z.strictObject({
  joinToken: z.string(),
  hostId: z.string().optional(),
  formerCredential: z.string().optional(),
  facts: hostFacts,
})
export type RegisterHost = z.infer<typeof registerHost>
export const registeredHost = z.strictObject({ hostId: z.string(), credential: z.string() })
export type RegisteredHost = z.infer<typeof registeredHost>
