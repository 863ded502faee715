/** Assembles the agent. At startup it recovers existing Docks first and connects to the control plane afterwards. */
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { Emitter, type Logger, Precedence } from '@dock/foundation'
import { type CopyPace, defaultCopyPace } from './disks/copies/copy-capture.ts'
import { memoryFolder } from './docks/boot-preparation.ts'
import { Docks } from './docks/docks.ts'
import { withRecordSteps } from './fault-points.ts'
import { readHostFacts, readPressure } from './host-facts.ts'
import { readMemoryAvailable } from './memory-available.ts'
import { GitDoors, type OpenDoor } from './network/git-door/git-doors.ts'
import { WaitingConnections } from './network/git-door/waiting-connections.ts'
import { BlankPool } from './sandboxes/blank-pool.ts'
import { BootQueue } from './sandboxes/boot-queue.ts'
import { createCaptureNotes } from './sandboxes/capture-notes.ts'
import type { DockEvents } from './sandboxes/dock-events.ts'
import { createDockRecords } from './sandboxes/dock-record.ts'
import type { DockParts } from './sandboxes/dock-state.ts'
import { Freezer } from './sandboxes/freezer.ts'
import { createKeptRecords } from './sandboxes/kept-processes/kept-record.ts'
import { ProcessKeeper } from './sandboxes/kept-processes/process-keeper.ts'
import { reportOutOfMemory } from './sandboxes/out-of-memory.ts'
import { createAgentApp } from './server/app.ts'
import type { HostView } from './server/host-view.ts'
import { createInstanceMemory } from './server/instance-memory.ts'
import { createWatches } from './watches.ts'

export type AgentParts = Omit<
  DockParts,
  | 'events'
  | 'records'
  | 'captureNotes'
  | 'keeper'
  | 'keptRecords'
  | 'warmPoolLosses'
  | 'freezer'
  | 'bootQueue'
  | 'blankPool'
  | 'live'
  | 'gitDoors'
> & {
  handlesFolder: string
  /** Folder of the process keeper's socket, whose path must be short. Default: the folder above `handlesFolder`. */
  runFolder?: string
  logger: Logger
  copyPace?: CopyPace
  /** Replaces the real listeners in tests. */
  openDoor?: OpenDoor
  /** Maximum number of sandboxes in the warm pool. Default 0. */
  warmPoolSize?: number
  /** True if the runtime emulates the processor. */
  isEmulated?: boolean
}

/** Number of sandboxes that boot at the same time. More would make every boot slower. */
const bootsAtOnce = Math.min(4, Math.max(2, availableParallelism()))

/** Longest pause of a copy before each chunk. A copy thus progresses at 2 MiB/s per processor even on a busy host. */
export const copyPauseMsMax = 2_000 / availableParallelism()

/** Longest time for which the creation of a sandbox ahead waits for a moment without new commands. */
const blankPauseMsMax = 3_000

/** Creates the agent without its link to the control plane. */
export function createAgent(agentParts: AgentParts) {
  const { driver, disks, networks, bootId, logger } = agentParts
  const events: DockEvents = new Emitter()
  const gitConnections = new WaitingConnections({ events, clock: agentParts.clock })
  const gitDoors = new GitDoors({
    ...{ logger, clock: agentParts.clock },
    openDoor: agentParts.openDoor,
    take: (dockId, socket) => {
      const running = docks.find(dockId)?.running
      if (running) gitConnections.add({ dockId, generation: running.generation }, socket)
      else socket.destroy()
    },
  })
  const hostFolder = dirname(agentParts.handlesFolder)
  const keptFolder = join(hostFolder, 'processes')
  const keeper = new ProcessKeeper(
    { folder: join(keptFolder, 'output'), runFolder: agentParts.runFolder ?? hostFolder },
    logger,
  )
  const precedence = new Precedence()
  const bootQueue = new BootQueue(bootsAtOnce)
  const blankPool = new BlankPool({
    ...agentParts,
    ...{ bootQueue, inMemory: memoryFolder, memoryAvailable: readMemoryAvailable },
    yieldToCommands: () => precedence.waitUntilFree(blankPauseMsMax),
  })
  const parts: DockParts = {
    ...agentParts,
    networks: gitDoors.wrapNetworks(networks),
    gitDoors,
    events,
    warmPoolLosses: new Emitter(),
    freezer: new Freezer(driver.capabilities.freezing, logger),
    ...{ bootQueue, blankPool },
    captureNotes: createCaptureNotes(join(agentParts.handlesFolder, 'captures')),
    live: new Set(),
    keeper,
    keptRecords: createKeptRecords(join(keptFolder, 'records')),
    records: withRecordSteps(createDockRecords(agentParts.handlesFolder)),
  }
  driver.capabilities.watchMemory?.(reportOutOfMemory(events, agentParts.clock))
  driver.capabilities.keepLeftOutputs?.(({ dockId, descriptors }) => keeper.keepLeft(dockId, descriptors))
  const docks = new Docks(parts)
  keeper.onDeath(() => docks.endKeptProcesses())
  const readOnly = Promise.withResolvers<void>()
  const watches = createWatches({
    ...parts,
    ...{ docks, blankPool, warmPoolSize: agentParts.warmPoolSize ?? 0, onReadOnly: readOnly.resolve },
  })
  /** Opens a git door for every running Dock: only the control plane knows which of them have repositories. */
  const openDoors = async (): Promise<void> => {
    for (const { dockId } of docks.running()) {
      const network = networks.find(dockId)
      if (!network) continue
      await gitDoors.open(dockId, network.gateway).catch((error: unknown) => {
        logger.warn({ err: error, dockId }, 'could not open the git door of a Dock')
      })
    }
  }
  /** Sandboxes keep a read-only pool from being mounted again. They count as dead, and their Docks start again. */
  const endSandboxesOfReadOnlyPool = async (): Promise<void> => {
    const { freeBytes, reserveBytes } = disks.room()
    if (freeBytes <= reserveBytes)
      throw new Error(
        'the disk pool is read-only and cannot be mounted again: make room on the disk of the data folder',
      )
    for (const handle of await driver.list()) await driver.destroy(handle)
  }
  const { isEmulated = false } = agentParts
  const facts = () => readHostFacts({ driver, disks, bootId, isEmulated })
  const view: HostView = {
    docks,
    disks,
    captureNotes: parts.captureNotes,
    keeper,
    instance: createInstanceMemory(join(hostFolder, 'instance.json')),
    copyPace: {
      ...(agentParts.copyPace ?? defaultCopyPace),
      yieldToCommands: () => precedence.waitUntilFree(copyPauseMsMax),
    },
    warmPool: watches.warmPool,
    imageChanges: watches.imageChanges,
    events: parts.events,
    facts,
    pressure: () => readPressure(disks),
    gitConnections,
    precedence,
    logger,
  }
  return {
    ...createAgentApp(view),
    docks,
    events: parts.events,
    warmPool: watches.warmPool,
    facts,
    /** Resolves if the disk pool is read-only and has room to be mounted again, which the next agent does. */
    poolIsReadOnly: readOnly.promise,
    /** Prepares the machine, adopts running sandboxes, and removes sandboxes, networks and disks without an owner. */
    recover: async (): Promise<void> => {
      if (disks.isReadOnly()) await endSandboxesOfReadOnlyPool()
      await Promise.all([disks.recover(), networks.setUp()])
      // Check the pool before any Dock is thawed: on a full pool a Dock would lose its writes.
      await watches.poolRoom.checkRoom()
      await docks.recover()
      await openDoors()
    },
    /** Starts the background watches. Returns a function that stops them. */
    watch: watches.start,
    /** Shuts down every sandbox gracefully. Disks are kept. */
    shutdown: async (): Promise<void> => {
      await docks.shutdown()
      await blankPool.close()
      await Promise.all([networks.tearDown(), keeper.end()])
    },
  }
}

export type Agent = ReturnType<typeof createAgent>
