/**
 * The states of a Dock and every move between them, once, for API, workers, dashboard and documentation. A move that
 * is not in the table does not happen. Deletion removes the row from any state and is no move.
 */
export const dockStates = [
  'provisioning',
  'provisioned',
  'cloning',
  'ready',
  'idle',
  'running',
  'archiving',
  'archived',
  'error',
  'unreachable',
] as const

export type DockState = (typeof dockStates)[number]

/** Why a Dock moves; stored with the move. */
export const dockCauses = [
  /** The sandbox runs. */
  'runtime_up',
  /** There are repositories to clone. */
  'repositories',
  /** The start is complete. */
  'started',
  /** A create, a branch or a recovery boot failed for good. */
  'start_failed',
  /** A resume failed and was undone. */
  'resume_failed',
  /** A Run, exec or terminal session is active, or was a moment ago. */
  'activity',
  /** The last Run, exec or terminal session ended. */
  'activity_ended',
  /** Nothing was active for 15 minutes. */
  'inactivity',
  /** A caller, or the closing of an account, asked for the stop. */
  'stop',
  /** `ttlSeconds` ran out. */
  'ttl',
  /** The stop is complete. */
  'stopped',
  /** The final Snapshot failed; the Dock goes on as it was. */
  'capture_failed',
  'resume',
  /** The runtime died or its host booted anew; the Dock boots again from its own disk. */
  'runtime_lost',
  /** The runtime died too often, or its disk is gone. */
  'lost_for_good',
  'host_silent',
  'host_back',
] as const

export type DockCause = (typeof dockCauses)[number]

/** A Dock is born in this state, by create or branch. */
export const initialDockState = 'provisioning' satisfies DockState

export type DockTransitions = {
  readonly [From in DockState]: { readonly [To in DockState]?: readonly DockCause[] }
}

/**
 * From → to → causes. Only a settled Dock turns `unreachable`: while an operation holds it, the operation reads
 * `blocked` and the state stays.
 */
export const dockTransitions = {
  provisioning: {
    provisioned: ['runtime_up'],
    error: ['start_failed', 'lost_for_good'],
    archived: ['resume_failed'],
  },
  provisioned: {
    cloning: ['repositories'],
    ready: ['started'],
    error: ['start_failed', 'lost_for_good'],
    archived: ['resume_failed'],
  },
  cloning: {
    ready: ['started'],
    error: ['start_failed', 'lost_for_good'],
    archived: ['resume_failed'],
  },
  ready: {
    running: ['activity'],
    idle: ['inactivity'],
    archiving: ['stop', 'ttl'],
    provisioning: ['runtime_lost'],
    error: ['lost_for_good'],
    unreachable: ['host_silent'],
  },
  idle: {
    running: ['activity'],
    ready: ['activity'],
    archiving: ['stop', 'ttl'],
    provisioning: ['runtime_lost'],
    error: ['lost_for_good'],
    unreachable: ['host_silent'],
  },
  running: {
    ready: ['activity_ended'],
    idle: ['inactivity'],
    archiving: ['stop', 'ttl'],
    provisioning: ['runtime_lost'],
    error: ['lost_for_good'],
    unreachable: ['host_silent'],
  },
  archiving: {
    archived: ['stopped'],
    ready: ['capture_failed'],
    idle: ['capture_failed'],
    running: ['capture_failed'],
    error: ['capture_failed', 'lost_for_good'],
  },
  archived: { provisioning: ['resume'] },
  error: { archiving: ['stop'] },
  unreachable: {
    ready: ['host_back'],
    idle: ['host_back'],
    running: ['host_back'],
    // By force, once the host counts as lost.
    archiving: ['stop'],
    provisioning: ['runtime_lost'],
    error: ['lost_for_good'],
  },
} as const satisfies DockTransitions

/** Whether a Dock may move, for this cause where one is given. */
export function canMoveDock(from: DockState, to: DockState, cause?: DockCause): boolean {
  const transitions: DockTransitions = dockTransitions
  const causes = transitions[from][to]
  return causes !== undefined && (cause === undefined || causes.includes(cause))
}

/** All of these count wherever the specification says "a ready Dock". */
export const readyDockStates = ['ready', 'idle', 'running'] as const satisfies readonly DockState[]

export function isReadyDockState(state: DockState): boolean {
  return (readyDockStates as readonly DockState[]).includes(state)
}

/** The letters of the `filter` of `GET /v1/docks`. */
export const dockFilterStates = {
  r: ['ready', 'cloning', 'idle', 'running'],
  s: ['archived'],
  p: ['provisioning', 'provisioned'],
  t: ['archiving'],
  e: ['error', 'unreachable'],
} as const satisfies Record<string, readonly DockState[]>

export type DockFilterLetter = keyof typeof dockFilterStates

/** The states that a filter such as `rs` lets through, each once. Letters outside the table are passed over. */
export function statesOfFilter(filter: string): DockState[] {
  const table: Record<string, readonly DockState[]> = dockFilterStates
  return [...new Set([...filter].flatMap((letter) => table[letter] ?? []))]
}
