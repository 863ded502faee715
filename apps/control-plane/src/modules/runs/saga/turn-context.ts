/** What the steps of a turn work with. */
import type { Clock, Logger } from '@dock/foundation'
import { waitAtMost } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import type { Sealer } from '../../../sealing/index.ts'
import type { DockContext, FastMachines, RunMachine } from '../../docks/index.ts'
import { findDock } from '../../docks/index.ts'
import type { GithubOperations } from '../../github/index.ts'
import { type HostGateway, HostRefused, HostUnreachable } from '../../hosts/index.ts'
import type { RunDoor } from '../door/run-at-door.ts'
import type { Machine } from '../machine/run-in-dock.ts'
import { findRun, type RunRow } from '../run-store.ts'
import { RunEnded, runFailed, runMerged, runStopped } from './run-ended.ts'

/** What Runs do at GitHub. */
export type RunGithub = Pick<
  GithubOperations,
  | 'repositoryToken'
  | 'forgetToken'
  | 'readBranch'
  | 'compare'
  | 'ensurePullRequest'
  | 'updatePullRequest'
  | 'writeStatusComment'
  | 'writeCheckRun'
  | 'readIssueText'
>

export type TurnParts = {
  db: Db
  clock: Clock
  logger: Logger
  /** Identifies this process on leases. */
  owner: string
  docks: DockContext
  machines: FastMachines
  /** False: no fast Run gets a machine. */
  isFastOn: boolean
  sealer: Sealer
  gateway: HostGateway
  github: RunGithub
  door: RunDoor
  /** Base URL of the git server, without a trailing slash. */
  gitServer: string
  /** The image of the machines of Runs. Null: that of every other Dock. */
  image: string | null
  /** Wakes the runner, so that a turn that was saved starts. */
  wake(): void
  /** Returns the page of a Run. */
  linkOf(runId: string): string
}

/** How long a machine may be silent or boot again before its Run fails. */
const hostPatienceMs = 10 * 60_000
const pauseMs = 1_000

export async function pause({ clock }: Pick<TurnParts, 'clock'>, ms: number): Promise<void> {
  await waitAtMost(clock, ms, new Promise<never>(() => undefined))
}

/** Returns the Run as it is now. Throws {@link RunEnded} if somebody wants it to end. */
export async function readLiveRun(
  { db }: Pick<TurnParts, 'db'>,
  { organizationId, targetId }: { organizationId: string; targetId: string },
): Promise<RunRow> {
  const run = await findRun(db, organizationId, targetId)
  if (!run) throw runStopped('The Run was deleted.')
  if (run.isMerged) throw new RunEnded(runMerged)
  if (run.stopReason !== null) throw runStopped(run.stopReason)
  if (run.state === 'stopped' || run.state === 'failed' || run.state === 'done')
    throw runStopped('The Run has ended.')
  return run
}

/** Returns the place of a fast Run's machine. */
export function machineOf({ hostId, id: dockId, generation }: RunMachine): Machine {
  return { hostId, dockId, generation }
}

/** Returns the running machine of the Run. Waits while it boots again or its host is silent. Throws {@link RunEnded}. */
export async function readMachine(
  parts: TurnParts,
  target: { organizationId: string; targetId: string },
): Promise<Machine> {
  const { db, clock } = parts
  const until = clock.now().getTime() + hostPatienceMs
  for (;;) {
    const run = await readLiveRun(parts, target)
    const isLate = clock.now().getTime() > until
    if (run.executionTarget === 'fast') {
      const machine = await parts.machines.find(run.organizationId, run.id)
      if (machine?.state === 'running' && machine.isHostOnline) return machineOf(machine)
      // A promotion has made a Dock of it.
      if (!machine && (await readLiveRun(parts, target)).executionTarget !== 'fast') continue
      if (!machine || isLate) throw runFailed('The machine of the Run was lost.', { isHostLost: true })
      await pause(parts, pauseMs)
      continue
    }
    const dock = run.dockId === null ? null : await findDock(db, run.organizationId, run.dockId)
    if (!dock) throw runStopped('Its Dock was deleted.')
    const { state, hostId, id: dockId, generation } = dock
    if ((state === 'ready' || state === 'idle' || state === 'running') && hostId !== null)
      return { hostId, dockId, generation }
    if (state === 'archiving' || state === 'archived') throw runStopped('Its Dock was stopped.')
    if (state === 'error' || isLate) throw runFailed('The machine of the Run was lost.', { isHostLost: true })
    await pause(parts, pauseMs)
  }
}

/**
 * Calls the host for the Run's machine. If the link breaks, waits for the host and calls again: the calls of a Run can be
 * repeated. Throws {@link RunEnded} if the machine is gone.
 */
export async function onMachine<Answer>(
  parts: TurnParts,
  target: { organizationId: string; targetId: string },
  call: (machine: Machine) => Promise<Answer>,
): Promise<Answer> {
  const { generation } = await readMachine(parts, target)
  for (;;) {
    const machine = await readMachine(parts, target)
    // What ran in an earlier boot is gone.
    if (machine.generation !== generation)
      throw runFailed('The machine of the Run was lost and booted again.', { isHostLost: true })
    try {
      return await call(machine)
    } catch (error) {
      const isGone =
        error instanceof HostRefused && ['not_running', 'not_found', 'stale_generation'].includes(error.code)
      if (!isGone && !(error instanceof HostUnreachable)) throw error
      await pause(parts, pauseMs)
      if (isGone && (await readMachine(parts, target)).generation === generation)
        throw runFailed('The machine lost the process of the Run.', { isHostLost: true, cause: error })
    }
  }
}
