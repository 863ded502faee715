/** Collects the variables and files that are applied to a Dock: those of its Environment, and its own variables. */
import type { Db } from '../../../../database/database.ts'
import type { Sealer } from '../../../../sealing/index.ts'
import type { StartDock } from '../../../hosts/index.ts'
import { openVariables } from './dock-variables.ts'

type Target = {
  organizationId: string
  dockId: string
  /**
   * Set if the Dock is running: the Environment version to apply. The Dock's previous key stays valid; the caller
   * revokes it afterwards.
   */
  liveVersion?: number
}
/** What is applied to a Dock. Without `files`, those on its disk stay. */
export type Applied = Pick<StartDock, 'files'> & { env: Readonly<Record<string, string>> }

/** Returns what the Dock's Environment passes to it. */
export type PrepareApply = (target: Target) => Promise<Applied>

/** The Dock's own variables override those of its Environment. */
export function createPrepareApply(options: {
  db: Db
  sealer: Sealer
  prepareApply: PrepareApply
}): PrepareApply {
  return async (target) => {
    const [passed, own] = await Promise.all([options.prepareApply(target), openVariables(options, target)])
    return { ...passed, env: { ...passed.env, ...own } }
  }
}
