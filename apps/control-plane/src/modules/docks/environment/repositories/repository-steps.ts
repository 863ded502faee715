/** Saga steps between boot and `ready` that clone and set up the Environment's repositories. */
import type { Clock } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import * as z from 'zod'
import type { Db } from '../../../../database/database.ts'
import { OperationBlocked, type OperationRow, type SagaStep } from '../../../../engine/index.ts'
import { HostRefused, HostUnreachable } from '../../../hosts/index.ts'
import { commitDock } from '../../core/dock-commit.ts'
import type { DockMove } from '../../core/dock-state.ts'
import type { DockRepositories } from './dock-repositories.ts'

/** Progress of these steps, stored in the start operation's data. */
export const repositoriesProgress = z.strictObject({
  /** True if the Dock's state is `cloning`. */
  cloning: z.boolean().optional(),
  changed: z.boolean().optional(),
  toSetUp: z.array(z.string()).optional(),
  /** True if a clone or a setup script failed. The Dock's row has the reason. */
  failed: z.boolean().optional(),
})
type RepositoriesProgress = z.infer<typeof repositoriesProgress>

/** The part of a start's data that these steps use. */
type Data = { repositories?: RepositoriesProgress | undefined; ip?: string | undefined }

const up: DockMove = { from: 'provisioning', to: 'provisioned', why: 'runtime_up' }

/** Returns the moves that bring the Dock from its current state to `ready`. */
export function movesToReady(progress: RepositoriesProgress | undefined): DockMove[] {
  return progress?.cloning
    ? [{ from: 'cloning', to: 'ready', why: 'started' }]
    : [up, { from: 'provisioned', to: 'ready', why: 'started' }]
}

/**
 * Returns assignments of the setup columns. A new Dock is `running` or `done`. An existing Dock changes only from
 * `failed` to `done`, if repositories were added successfully.
 */
export function setupAfterStart(
  progress: RepositoriesProgress | undefined,
  isNew: boolean,
  runsSetup: boolean,
): RawBuilder<unknown> {
  if (progress?.failed) return sql``
  if (isNew) return sql`, setup_status = ${runsSetup ? 'running' : 'done'}`
  return progress?.changed
    ? sql`, setup_status = case when d.setup_status = 'failed' then 'done' else d.setup_status end,
        setup_error = case when d.setup_status = 'failed' then null else d.setup_error end`
    : sql``
}

export function createRepositorySteps(options: {
  db: Db
  clock: Clock
  repositories: DockRepositories
}): SagaStep<Data>[] {
  const { db, clock, repositories } = options

  const dockOf = ({ targetId: dockId, hostId, generation }: OperationRow) => ({
    dockId,
    generation,
    hostId: hostId ?? '',
  })

  /**
   * Keeps a recovery from failing because of repositories, since a failed recovery may give up the Dock's only disk. It
   * blocks if the host is unreachable, and continues if the host refuses.
   */
  const keepDiskOnFailure = async (operation: OperationRow, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (operation.kind !== 'recover') throw error
      if (error instanceof HostUnreachable)
        throw new OperationBlocked(operation.hostId ?? '', 'the host is unreachable', { cause: error })
      // If the sandbox died again, the host will report that, and the Dock is recovered again.
      if (!(error instanceof HostRefused)) throw error
    }
  }

  const clone: SagaStep<Data> = {
    name: 'clone',
    isNeeded: (operation) => operation.data.repositories !== undefined,
    do: (operation) =>
      keepDiskOnFailure(operation, async () => {
        const data = operation.data
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

  const setUp: SagaStep<Data> = {
    name: 'set-up-repositories',
    isNeeded: (operation) => Boolean(operation.data.repositories?.toSetUp?.length),
    do: (operation) =>
      keepDiskOnFailure(operation, async () => {
        const progress = operation.data.repositories
        if (!progress?.toSetUp) return
        if (await repositories.setUp(operation.id, dockOf(operation), progress.toSetUp)) return
        progress.failed = true
      }),
  }

  return [clone, setUp]
}
