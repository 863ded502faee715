/** The machine of a Run: a Dock that belongs to the person who linked the installation, made once, resumed for feedback. */
import { accessTerms, type ErrorCode, limits, type RouteBody, routes, ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import { createVisitor, isOpenAccount, type Visitor } from '../../accounts/index.ts'
import { createDock, findDock, resumeDock } from '../../docks/index.ts'
import { insertRunEvents } from '../move-run.ts'
import type { RunRow } from '../run-store.ts'
import { runFailed } from './run-ended.ts'
import { pause, readLiveRun, readMachine, type TurnParts } from './turn-context.ts'

const retryMs = 2_000

/** Refusals after which a later try may succeed. */
const passing = new Set<ErrorCode>([
  ...(['capacity_exhausted', 'no_host_capacity', 'concurrency_exceeded', 'service_unavailable'] as const),
  ...(['dock_busy', 'idempotency_in_progress', 'rate_limited'] as const),
])

type Target = { organizationId: string; targetId: string }
type Wanted = { turn: number; hasOutsiderText: boolean }

/** Returns the caller in whose name the machine is made. Its membership and role are checked as those of any caller. */
const ownerOf = (run: RunRow, route: 'createDock' | 'resumeDock'): Visitor =>
  createVisitor(
    {
      ...{ kind: 'api_key', userId: run.createdBy, email: '', emailVerified: true, instanceAdmin: false },
      credentialId: `run:${run.id}`,
    },
    accessTerms(routes[route].access)!,
  )

/** SQL that gives the Run the Dock of the relation `born`. A Run that was stopped meanwhile does not take it. */
const takeDock = (run: RunRow, now: Date): RawBuilder<unknown>[] => [
  sql`run as (update runs r set dock_id = born.id, state = 'provisioning', updated_at = ${now} from born
    where r.id = ${run.id} and r.state = 'pending' and r.stop_reason is null returning r.id)`,
  sql`run_told as (${insertRunEvents(sql`run`, ['provisioning'], now)})`,
]

/** Brings up the machine. Throws {@link RunEnded} if that is impossible, or took too long. */
export async function getMachine(parts: TurnParts, target: Target, wanted: Wanted): Promise<void> {
  const { db, clock } = parts
  const minutes = limits.runs.pendingMinutesMax
  const until = clock.now().getTime() + minutes * 60_000
  for (;;) {
    const run = await readLiveRun(parts, target)
    if (!(await isOpenAccount(db, run.createdBy)))
      throw runFailed(
        'The person who linked the installation has closed the account. A member must link it again.',
      )
    const waitsSince = run.state === 'pending' ? run.createdAt.getTime() + minutes * 60_000 : until
    let refusal =
      'Fast Runs are off on this instance. Promote the Run, or change the target of the installation.'
    if (run.executionTarget === 'dock') {
      const refused = await bringUp(parts, run, wanted)
      if (refused === null) break
      refusal = refused
    }
    if (clock.now().getTime() > waitsSince)
      throw runFailed(`The Run had no machine after ${minutes} minutes. The last reason: ${refusal}`)
    await pause(parts, retryMs)
  }
  await readMachine(parts, target)
}

/** Creates or resumes the Dock. Returns null once that is done, or why it must be tried again. */
const bringUp = async (
  { db, docks, image }: TurnParts,
  run: RunRow,
  { turn, hasOutsiderText }: Wanted,
): Promise<string | null> => {
  try {
    if (run.dockId !== null) {
      const dock = await findDock(db, run.organizationId, run.dockId)
      // In the first turn nobody but a person stops the Dock, and the Run ends with it.
      if (turn > 1 && dock?.state === 'archiving') return 'Its Dock is being archived.'
      if (turn > 1 && dock?.state === 'archived')
        await resumeDock(docks, ownerOf(run, 'resumeDock'), run.dockId, { ttlSeconds: null })
      return null
    }
    // Only a Run's key has a line break: no header can carry it.
    await createDock(
      docks,
      ownerOf(run, 'createDock'),
      bodyFor(run, image, hasOutsiderText),
      `run\n${run.id}`,
      (now) => takeDock(run, now),
    )
    return null
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (passing.has(error.code)) return error.message
    if (error.code === 'dock_not_found')
      throw runFailed(
        'The person who linked the installation is no longer a member. A member must link it again.',
      )
    throw runFailed(`No machine could be made: ${error.message}`, { cause: error })
  }
}

/** Text of outsiders may hold instructions, so a machine that reads it gets nothing that the Environment passes on. */
const bodyFor = (
  { workspaceId, settings }: RunRow,
  image: string | null,
  hasOutsiderText: boolean,
): RouteBody<(typeof routes)['createDock']> =>
  routes.createDock.body.parse({
    workspaceId,
    ttlSeconds: null,
    noEnv: hasOutsiderText,
    ...(image === null ? {} : { image }),
    ...(settings.environment === null ? {} : { environment: settings.environment }),
  })
