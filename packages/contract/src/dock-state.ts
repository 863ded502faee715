/**
 * The states of a Dock and every transition between them. API, workers, dashboard and documentation all use this table.
 * A transition that is not in the table is refused. Deletion removes the row from any state and is not a transition.
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

/** Why a Dock changes state; stored with the transition. */
export const dockCauses = [
  /** The sandbox is running. */
  'runtime_up',
  /** There are repositories to clone. */
  'repositories',
  /** The start is complete. */
  'started',
  /** A create, a branch or a recovery boot failed permanently. */
  'start_failed',
  /** A resume failed and was undone. */
  'resume_failed',
  /** A Run, exec or terminal session is active, or recently was. */
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
  /** The final Snapshot failed; the Dock returns to its previous state. */
  'capture_failed',
  'resume',
  /** The runtime died or its host rebooted; the Dock boots again from its own disk. */
  'runtime_lost',
  /** The runtime died too often, or the Dock's disk is gone. */
  'lost_for_good',
  'host_silent',
  'host_back',
] as const

export type DockCause = (typeof dockCauses)[number]

/** The state of a Dock that was just created or branched. */
export const initialDockState = 'provisioning' satisfies DockState

export type DockTransitions = {
  readonly [From in DockState]: { readonly [To in DockState]?: readonly DockCause[] }
}

/**
 * From → to → causes. A Dock becomes `unreachable` only while no operation holds it. Otherwise the operation becomes
 * `blocked` and the Dock keeps its state.
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
    // Only with force, after the host was declared lost.
    archiving: ['stop'],
    provisioning: ['runtime_lost'],
    error: ['lost_for_good'],
  },
} as const satisfies DockTransitions

/** Returns true if the table allows the transition, for this cause if `cause` is given. */
export function canMoveDock(from: DockState, to: DockState, cause?: DockCause): boolean {
  const transitions: DockTransitions = dockTransitions
  const causes = transitions[from][to]
  return causes !== undefined && (cause === undefined || causes.includes(cause))
}

/** The states that the specification means by "a ready Dock". */
export const readyDockStates = ['ready', 'idle', 'running'] as const satisfies readonly DockState[]

export function isReadyDockState(state: DockState): boolean {
  return (readyDockStates as readonly DockState[]).includes(state)
}

/**
 * The states from which a stop may be accepted. From `error` the Dock must have kept its disk. From `unreachable` the stop
 * needs force, once the host was declared lost.
 */
export const stoppableDockStates = dockStates.filter(
  (state) => state !== 'unreachable' && canMoveDock(state, 'archiving', 'stop'),
)

/** The states from which a resume is accepted. */
export const resumableDockStates = dockStates.filter((state) => canMoveDock(state, 'provisioning', 'resume'))

/** The letters of the `filter` parameter of `GET /v1/docks`. */
export const dockFilterStates = {
  r: ['ready', 'cloning', 'idle', 'running'],
  s: ['archived'],
  p: ['provisioning', 'provisioned'],
  t: ['archiving'],
  e: ['error', 'unreachable'],
} as const satisfies Record<string, readonly DockState[]>

export type DockFilterLetter = keyof typeof dockFilterStates

/** Returns the states selected by a filter such as `rs`, without duplicates. Ignores unknown letters. */
export function statesOfFilter(filter: string): DockState[] {
  const table: Record<string, readonly DockState[]> = dockFilterStates
  return [...new Set([...filter].flatMap((letter) => table[letter] ?? []))]
}
