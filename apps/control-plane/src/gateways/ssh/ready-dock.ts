/**
 * Finds the Dock that a session is for. An archived Dock is resumed for a person at a terminal only. Everything else is
 * refused, so that an editor that reconnects again and again never wakes a Dock that somebody has stopped.
 */
import { accessTerms, dockWords, isReadyDockState, routes, ServiceError } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { type Caller, createVisitor } from '../../modules/accounts/index.ts'
import { recordDockEntered } from '../../modules/audit/index.ts'
import { type DockRow, requireExecAccess, resumeDock } from '../../modules/docks/index.ts'
import type { Entrance } from './find-entrance.ts'
import { SessionRefused } from './refusal.ts'
import type { SshContext } from './ssh-context.ts'

const pollMs = 300
const recordEveryMs = 10 * 60_000
const patienceMs = 15 * 60_000
const startingStates: ReadonlySet<string> = new Set(['provisioning', 'provisioned', 'cloning', 'archiving'])

const visitorOf = (caller: Caller, route: 'execInDock' | 'resumeDock') => {
  const terms = accessTerms(routes[route].access)
  if (!terms) throw new Error(`the route ${route} has no access terms`)
  return createVisitor(caller, terms)
}

/** Returns the id of the Dock that the client named. Throws a refusal with their full names if there are several. */
export function requireDockId(entrance: Entrance): string {
  if (entrance.dock) return entrance.dock.id
  throw new SessionRefused(
    `You can reach several Docks called '${entrance.userName}'. Connect to one of: ${entrance.namesakes.join(', ')}`,
  )
}

/** Returns the Dock, whatever its state. Throws if the person may no longer run commands in it. */
export function readDockForExec(context: SshContext, entrance: Entrance): Promise<DockRow> {
  return requireExecAccess(context.docks, visitorOf(entrance.caller, 'execInDock'), requireDockId(entrance))
}

/** Records that the person entered the Dock, unless this connection has done so in the last 10 minutes. */
const recordEntered = async ({ docks }: SshContext, entrance: Entrance, dock: DockRow): Promise<void> => {
  const now = docks.clock.now()
  if (entrance.recordedAt && now.getTime() - entrance.recordedAt.getTime() < recordEveryMs) return
  await recordDockEntered(docks.db, entrance.caller, dock, { by: 'ssh', now })
  entrance.recordedAt = now
}

/** Returns the Dock if it is ready. Otherwise throws a refusal that says how to resume it. */
export async function requireReadyDock(context: SshContext, entrance: Entrance): Promise<DockRow> {
  const dock = await readDockForExec(context, entrance)
  if (!isReadyDockState(dock.state) || dock.hostId === null)
    throw new SessionRefused(explainState(context, entrance, dock))
  await recordEntered(context, entrance, dock)
  return dock
}

const wordOf = ({ state }: DockRow): string => dockWords[state].toLowerCase()

const explainState = ({ address }: SshContext, { userName }: Entrance, dock: DockRow): string => {
  if (dock.state !== 'archived') return `'${dock.name}' is ${wordOf(dock)}. Try again later.`
  const port = address.port === 22 ? '' : `-p ${address.port} `
  return (
    `'${dock.name}' is stopped. Resume it with a shell (ssh ${port}${userName}@${address.host}) ` +
    `or with POST /v1/docks/${dock.id}/resume, then connect again.`
  )
}

/**
 * Returns the Dock once it is ready. Resumes it if it is archived, and calls `say` with lines about the progress. Throws
 * if that fails, and when `hasLeft` returns true.
 */
export async function resumeForShell(
  context: SshContext,
  entrance: Entrance,
  say: (line: string) => void,
  hasLeft: () => boolean,
): Promise<DockRow> {
  const { clock } = context.docks
  const startedAt = clock.now().getTime()
  const elapsedMs = (): number => clock.now().getTime() - startedAt
  let shown = ''
  let resuming: Promise<void> | undefined
  let failure: unknown
  while (!hasLeft() && elapsedMs() < patienceMs) {
    if (failure !== undefined) throw failure
    const dock = await readDockForExec(context, entrance)
    if (isReadyDockState(dock.state) && dock.hostId !== null) {
      if (shown !== '') say(`'${dock.name}' is ready after ${(elapsedMs() / 1000).toFixed(1)} s.`)
      await recordEntered(context, entrance, dock)
      return dock
    }
    if (dock.state === 'archived') {
      if (!resuming) say(`'${dock.name}' is stopped. Resuming it.`)
      resuming ??= resume(context, entrance, dock).catch((error: unknown) => {
        failure = error
      })
      shown = dock.state
      await pause(clock)
      continue
    }
    if (!startingStates.has(dock.state)) throw new SessionRefused(explainState(context, entrance, dock))
    const word = wordOf(dock)
    if (shown !== word) say(`'${dock.name}' is ${word}.`)
    shown = word
    await pause(clock)
  }
  throw new SessionRefused('The Dock did not become ready in time.')
}

const pause = (clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    clock.after(pollMs, resolve)
  })

/** Starts the resume, or joins one that another person has started at the same moment. */
const resume = async (context: SshContext, entrance: Entrance, dock: DockRow): Promise<void> => {
  try {
    await resumeDock(context.docks, visitorOf(entrance.caller, 'resumeDock'), dock.id, {})
  } catch (error) {
    const code = error instanceof ServiceError ? error.code : null
    if (code === 'dock_busy') return
    // The other resume may have been completed since this session read the Dock's state.
    const isResumed = code === 'conflict' && (await readDockForExec(context, entrance)).state !== 'archived'
    if (!isResumed) throw error
  }
}
