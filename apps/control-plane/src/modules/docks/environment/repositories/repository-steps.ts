/** The steps of a start between the boot and `ready`, where the Environment passes repositories on. */
import type { Clock } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../../database/database.ts'
import { OperationBlocked, type OperationRow, type SagaStep } from '../../../../engine/index.ts'
import { HostRefused, HostUnreachable } from '../../../hosts/index.ts'
import { commitDock } from '../../core/dock-commit.ts'
import type { DockMove } from '../../core/dock-state.ts'
import type { DockRepositories } from './dock-repositories.ts'

/** Part of a start's data. */
export type RepositoriesProgress = {
  /** The Dock's state is `cloning`. */
  cloning?: boolean
  changed?: boolean
  toSetUp?: string[]
  /** The reason stands in the Dock's row. */
  failed?: boolean
}

type Data = { repositories?: RepositoriesProgress; ip?: string }

const up: DockMove = { from: 'provisioning', to: 'provisioned', why: 'runtime_up' }

/** How a Dock that has come so far turns ready. */
export function movesToReady(progress: RepositoriesProgress | undefined): DockMove[] {
  return progress?.cloning
    ? [{ from: 'cloning', to: 'ready', why: 'started' }]
    : [up, { from: 'provisioned', to: 'ready', why: 'started' }]
}

/** Columns that say what is set up: all there is of a new Dock, what came anew of one that was there before. */
export function setupAfterStart(
  progress: RepositoriesProgress | undefined,
  newBorn: boolean,
  runsSetup: boolean,
): RawBuilder<unknown> {
  if (progress?.failed) return sql``
  if (newBorn) return sql`, setup_status = ${runsSetup ? 'running' : 'done'}`
  return progress?.changed
    ? sql`, setup_status = case when d.setup_status = 'failed' then 'done' else d.setup_status end,
        setup_error = case when d.setup_status = 'failed' then null else d.setup_error end`
    : sql``
}

export function createRepositorySteps(options: {
  db: Db
  clock: Clock
  repositories: DockRepositories
}): SagaStep[] {
  const { db, clock, repositories } = options

  const dockOf = ({ targetId: dockId, hostId, generation }: OperationRow) => ({
    dockId,
    generation,
    hostId: hostId ?? '',
  })

  /** After a loss the disk is the only one there is: nothing that happens to repositories gives it up. */
  const sparingDisk = async (operation: OperationRow, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (operation.kind !== 'recover') throw error
      if (error instanceof HostUnreachable)
        throw new OperationBlocked(operation.hostId ?? '', 'the host is silent', { cause: error })
      // A sandbox that died again is booted again once the host tells of it.
      if (!(error instanceof HostRefused)) throw error
    }
  }

  const clone: SagaStep = {
    name: 'clone',
    isNeeded: (operation) => (operation.data as Data).repositories !== undefined,
    do: (operation) =>
      sparingDisk(operation, async () => {
        const data = operation.data as Data
        const progress = data.repositories
        if (!progress) return
        await commitDock(db, {
          dockId: operation.targetId,
          generation: operation.generation,
          moves: [up, { from: 'provisioned', to: 'cloning', why: 'repositories' }],
          cause: operation.cause,
          now: clock.now(),
          set: sql`ip = ${data.ip ?? null}`,
        })
        progress.cloning = true
        Object.assign(progress, await repositories.clone(operation.id, dockOf(operation)))
      }),
  }

  const setUp: SagaStep = {
    name: 'set-up-repositories',
    isNeeded: (operation) => Boolean((operation.data as Data).repositories?.toSetUp?.length),
    do: (operation) =>
      sparingDisk(operation, async () => {
        const progress = (operation.data as Data).repositories
        if (!progress?.toSetUp) return
        if (await repositories.setUp(operation.id, dockOf(operation), progress.toSetUp)) return
        progress.failed = true
      }),
  }

  return [clone, setUp]
}
