/** Collects the variables and files that a boot puts into a Dock: those of its Environment, and its own variables. */
import type { Db } from '../../../../database/database.ts'
import type { Sealer } from '../../../../sealing/index.ts'
import type { StartDock } from '../../../hosts/index.ts'
import { openVariables } from './dock-variables.ts'

type Target = {
  organizationId: string
  dockId: string
  /**
   * Set if the Dock is running: the Environment version to deliver. The Dock's previous key stays valid; the caller
   * revokes it after the delivery.
   */
  liveVersion?: number
}
export type Furnishing = Pick<StartDock, 'files'> & { env: Readonly<Record<string, string>> }

/** Returns what the Dock's Environment passes on to it. */
export type Launch = (target: Target) => Promise<Furnishing>

/** The Dock's own variables override those of its Environment. */
export function createFurnishing(options: { db: Db; sealer: Sealer; launch: Launch }): Launch {
  return async (target) => {
    const [passed, own] = await Promise.all([options.launch(target), openVariables(options, target)])
    return { ...passed, env: { ...passed.env, ...own } }
  }
}
