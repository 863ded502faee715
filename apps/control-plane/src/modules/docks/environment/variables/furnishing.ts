/** All that a start gives a Dock: what its Environment passes on, with the Dock's own variables over it. */
import type { Db } from '../../../../database/database.ts'
import type { Sealer } from '../../../../sealing/index.ts'
import type { StartDock } from '../../../hosts/index.ts'
import { openVariables } from './dock-variables.ts'

type Target = {
  organizationId: string
  dockId: string
  /** For a Dock that runs: this version, and its key of before goes on until it is ended by who delivers. */
  liveVersion?: number
}
export type Furnishing = Pick<StartDock, 'files'> & { env: Readonly<Record<string, string>> }

/** What the Environment that a Dock is bound to passes on to it. */
export type Launch = (target: Target) => Promise<Furnishing>

export function createFurnishing(options: { db: Db; sealer: Sealer; launch: Launch }): Launch {
  return async (target) => {
    const [passed, own] = await Promise.all([options.launch(target), openVariables(options, target)])
    return { ...passed, env: { ...passed.env, ...own } }
  }
}
