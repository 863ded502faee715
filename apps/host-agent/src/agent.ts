/** The agent's life: what is there is taken up first, only then does the control plane hear of this host. */
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { type Logger, Precedence } from '@dock/foundation'
import { type CopyPace, defaultCopyPace } from './copies/copy-capture.ts'
import { BootTurns } from './docks/boot-turns.ts'
import { createCaptureNotes } from './docks/capture-notes.ts'
import type { DockEvents } from './docks/dock-events.ts'
import { createDockRecords } from './docks/dock-record.ts'
import type { DockParts } from './docks/dock-state.ts'
import { Docks } from './docks/docks.ts'
import { Emitter } from './docks/emitter.ts'
import { tellOfMemory } from './docks/out-of-memory.ts'
import { withRecordSteps } from './fault-steps.ts'
import { Freezer } from './freezing/freezer.ts'
import { GitDoors, type OpenDoor } from './git-door/git-doors.ts'
import { WaitingConnections } from './git-door/waiting-connections.ts'
import { readHostFacts, readPressure } from './host-facts.ts'
import { createAgentApp } from './http/app.ts'
import type { HostView } from './http/host-view.ts'
import { takeConnections } from './http/take-connections.ts'
import { createInstanceMemory } from './instance/instance-memory.ts'
import { createWatches } from './watches.ts'

export type AgentParts = Omit<
  DockParts,
  'events' | 'records' | 'captureNotes' | 'poolLosses' | 'freezer' | 'turns' | 'live' | 'gitDoors'
> & {
  handlesFolder: string
  logger: Logger
  copyPace?: CopyPace
  /** Instead of real listeners: tests only. */
  openDoor?: OpenDoor
  /** Sandboxes that are kept ready at most. */
  warmPoolSize?: number
}

/** Sandboxes that boot at once: more are slower for all. */
const bootsAtOnce = Math.min(4, Math.max(2, availableParallelism()))

/** A copy of a host that is never at rest still goes on: by 2 MiB a second for each processor, as far as its pace. */
export const copyWaitsAtMostMs = 2_000 / availableParallelism()

/** The agent without its link: its Docks and its paths. */
export function createAgent(agentParts: AgentParts) {
  const { driver, disks, networks, bootId, logger } = agentParts
  const events: DockEvents = new Emitter()
  const gitConnections = new WaitingConnections({ events, clock: agentParts.clock })
  const gitDoors = new GitDoors({
    ...{ logger, clock: agentParts.clock },
    openDoor: agentParts.openDoor,
    take: (dockId, socket) => {
      const running = docks.known(dockId)?.running
      if (running) gitConnections.add({ dockId, generation: running.generation }, socket)
      else socket.destroy()
    },
  })
  const parts: DockParts = {
    ...agentParts,
    networks: gitDoors.guarding(networks),
    gitDoors,
    events,
    poolLosses: new Emitter(),
    freezer: new Freezer(driver, logger),
    turns: new BootTurns(bootsAtOnce),
    captureNotes: createCaptureNotes(join(agentParts.handlesFolder, 'captures')),
    live: new Set(),
    records: withRecordSteps(createDockRecords(agentParts.handlesFolder)),
  }
  driver.watchMemory?.(tellOfMemory(events, agentParts.clock))
  const docks = new Docks(parts)
  const watches = createWatches({ ...parts, docks, warmPoolSize: agentParts.warmPoolSize ?? 0 })
  /** For Docks that run on; which of them have repositories only the control plane knows. */
  const openDoors = async (): Promise<void> => {
    for (const { dockId } of docks.running()) {
      const network = networks.find(dockId)
      if (!network) continue
      await gitDoors.open(dockId, network.gateway).catch((error: unknown) => {
        logger.warn({ err: error, dockId }, 'a Dock has no git door')
      })
    }
  }
  const precedence = new Precedence()
  const facts = () => readHostFacts(driver, disks, bootId)
  const view: HostView = {
    docks,
    disks,
    captureNotes: parts.captureNotes,
    instance: createInstanceMemory(join(dirname(agentParts.handlesFolder), 'instance.json')),
    copyPace: {
      ...(agentParts.copyPace ?? defaultCopyPace),
      giveWay: () => precedence.untilFree(copyWaitsAtMostMs),
    },
    warmPool: watches.warmPool,
    events: parts.events,
    facts,
    pressure: () => readPressure(disks),
    gitConnections,
    precedence,
    logger,
  }
  return {
    app: createAgentApp(view),
    connect: takeConnections(view),
    docks,
    events: parts.events,
    warmPool: watches.warmPool,
    facts,
    /** Makes the machine ready, adopts what runs and clears what nobody owns. */
    recover: async (): Promise<void> => {
      await Promise.all([disks.recover(), networks.setUp()])
      // Before any Dock is let go on: with a full pool it would lose what it writes.
      await watches.poolRoom.look()
      await docks.recover()
      await openDoors()
    },
    /** Begins what goes on beside the commands; the answer ends it. */
    watch: watches.start,
    /** Ends every sandbox in order; their disks stay. */
    shutdown: async (): Promise<void> => {
      await docks.shutdown()
      await networks.tearDown()
    },
  }
}

export type Agent = ReturnType<typeof createAgent>
