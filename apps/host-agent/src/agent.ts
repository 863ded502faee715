/** The agent's life: what is there is taken up first, only then does the control plane hear of this host. */
import type { Logger } from '@dock/foundation'
import { type CopyPace, defaultCopyPace } from './copies/copy-capture.ts'
import { DockEvents } from './docks/dock-events.ts'
import { createDockRecords } from './docks/dock-record.ts'
import type { DockParts } from './docks/dock-state.ts'
import { Docks } from './docks/docks.ts'
import { readHostFacts, readPressure } from './host-facts.ts'
import { createAgentApp } from './http/app.ts'

export type AgentParts = Omit<DockParts, 'events' | 'records'> & {
  handlesFolder: string
  logger: Logger
  copyPace?: CopyPace
}

/** The agent without its link: its Docks and its paths. */
export const createAgent = (parts: AgentParts) => {
  const { driver, disks, networks, bootId, logger } = parts
  const events = new DockEvents()
  const docks = new Docks({ ...parts, events, records: createDockRecords(parts.handlesFolder) })
  const facts = () => readHostFacts(driver, disks, bootId)
  const copyPace = parts.copyPace ?? defaultCopyPace
  const app = createAgentApp({
    docks,
    disks,
    copyPace,
    events,
    facts,
    pressure: () => readPressure(disks),
    logger,
  })
  return {
    app,
    docks,
    facts,
    /** Makes the machine ready, adopts what runs and clears what nobody owns. */
    recover: async (): Promise<void> => {
      await Promise.all([disks.recover(), networks.setUp()])
      await docks.recover()
    },
    /** Ends every sandbox in order; their disks stay. */
    shutdown: async (): Promise<void> => {
      await docks.shutdown()
      await networks.tearDown()
    },
  }
}

export type Agent = ReturnType<typeof createAgent>
