/**
 * The model of Docks, without database, host or process. It is short, so that a reader can judge whether it is right.
 * Each command changes the model and the real system, and then the two are compared.
 */
import { limits } from '@dock/contract'

export type ModelState = 'ready' | 'idle' | 'archiving' | 'archived' | 'error' | 'unreachable'

/** Operations that wait for a silent host. */
export type Pending = 'stop' | 'forced-stop' | 'delete'

export type ModelDock = {
  id: string
  name: string
  state: ModelState
  generation: number
  /** Completed Snapshots. */
  snapshots: number
  /** Times at which Snapshots failed because their host was declared lost. */
  lost: number[]
  /** Time of the last archiving. */
  archivedAt: number
  /** True if the Dock has a disk on the host, with or without a sandbox. */
  hasDisk: boolean
  /** True if placement counts the Dock on the host. */
  placed: boolean
  ttlSeconds: number | null
  /** Seconds of the model's clock. */
  readyAt: number
  stopAt: number | null
  activeAt: number
  /** True if the Dock was used since the last sweep. */
  used: boolean
  billingPaused: boolean
  deaths: number[]
  pending: Pending | null
  /** The state before the Dock became unreachable. */
  before: 'ready' | 'idle'
  events: string[]
  /** Output of commands by idempotency key, or null if it is unknown. */
  execs: Map<string, string | null>
}

export type ModelKey = { fingerprint: string; dockId: string; at: number }

export type Model = {
  now: number
  online: boolean
  /** True if the host was silent for so long that it counts as offline. */
  offline: boolean
  /** True if the host was declared lost and has not reported since. */
  lost: boolean
  /** Time of the host's last report. */
  heardAt: number
  /** Time at which the current process started to receive reports. */
  processAt: number
  docks: ModelDock[]
  keys: Map<string, ModelKey>
}

export function newModel(): Model {
  return {
    now: 0,
    online: true,
    offline: false,
    lost: false,
    heardAt: 0,
    processAt: 0,
    docks: [],
    keys: new Map(),
  }
}

export function isReady({ state }: ModelDock): boolean {
  return state === 'ready' || state === 'idle'
}

/** Returns the Dock at an index, modulo the number of Docks, or undefined if there is none. */
export function pick(model: Model, index: number): ModelDock | undefined {
  return model.docks[index % Math.max(1, model.docks.length)]
}

/** Adds a Dock after a create or branch. */
export function addDock(
  model: Model,
  created: { id: string; name: string; ttlSeconds: number | null },
  fails: boolean,
): ModelDock {
  const dock: ModelDock = {
    ...created,
    state: fails ? 'error' : 'ready',
    generation: 1,
    snapshots: 0,
    lost: [],
    archivedAt: 0,
    hasDisk: !fails,
    placed: !fails,
    readyAt: model.now,
    stopAt: null,
    activeAt: model.now,
    used: false,
    billingPaused: false,
    deaths: [],
    pending: null,
    before: 'ready',
    events: [fails ? 'dock.error' : 'dock.ready'],
    execs: new Map(),
  }
  if (!fails) countTtl(dock)
  model.docks.push(dock)
  return dock
}

const countTtl = (dock: ModelDock): void => {
  dock.stopAt = dock.ttlSeconds === null ? null : dock.readyAt + dock.ttlSeconds
}

export function setTtl(dock: ModelDock, ttlSeconds: number | null): void {
  dock.ttlSeconds = ttlSeconds
  if (dock.hasDisk && dock.state !== 'error') countTtl(dock)
}

export function archive(model: Model, dock: ModelDock, forced: boolean): void {
  dock.archivedAt = model.now
  if (!forced) dock.snapshots += 1
  Object.assign(dock, { state: 'archived', hasDisk: false, placed: false, stopAt: null })
  Object.assign(dock, { pending: null, billingPaused: false })
  dock.events.push('dock.archived')
}

/** A forced stop without the host. The new generation makes a sandbox that still runs there outdated. */
export function giveUp(model: Model, dock: ModelDock): void {
  archive(model, dock, true)
  dock.generation += 1
}

/** Declares the host lost. Pending operations complete, and Snapshots fail, because these tests make no copies. */
export function loseHost(model: Model): void {
  model.lost = true
  for (const dock of [...model.docks]) {
    while (dock.snapshots > 0) {
      dock.snapshots -= 1
      dock.lost.push(model.now)
    }
    if (dock.pending === 'delete') remove(model, dock)
    if (dock.pending === 'forced-stop') giveUp(model, dock)
  }
}

export function boot(model: Model, dock: ModelDock): void {
  Object.assign(dock, { state: 'ready', hasDisk: true, placed: true })
  Object.assign(dock, { readyAt: model.now, activeAt: model.now })
  dock.generation += 1
  dock.events.push('dock.hydrated')
  countTtl(dock)
}

export function remove(model: Model, dock: ModelDock): void {
  model.docks.splice(model.docks.indexOf(dock), 1)
}

/** An unexpected death of the sandbox. The Dock boots again, unless this is the fourth death within ten minutes. */
export function die(model: Model, dock: ModelDock): void {
  const recent = dock.deaths.filter((at) => at > model.now - 600)
  if (recent.length >= 3) {
    Object.assign(dock, { state: 'error', placed: false, stopAt: null })
    dock.events.push('dock.error')
    return
  }
  dock.deaths.push(model.now)
  dock.generation += 1
  dock.state = 'ready'
}

/** The host reports: pending operations complete, and unreachable Docks return to their state. */
export function hearHost(model: Model): void {
  model.heardAt = model.now
  Object.assign(model, { offline: false, lost: false })
  for (const dock of [...model.docks]) {
    // Snapshots that failed with the host are completed again if their Dock has been archived since before that.
    if (dock.state === 'archived') {
      const stillLost = dock.lost.filter((at) => at <= dock.archivedAt)
      dock.snapshots += dock.lost.length - stillLost.length
      dock.lost = stillLost
    }
    if (dock.pending === 'stop' || dock.pending === 'forced-stop')
      archive(model, dock, dock.pending === 'forced-stop')
    else if (dock.pending === 'delete') remove(model, dock)
    dock.pending = null
    if (dock.state === 'unreachable') dock.state = dock.before
  }
}

/** Applies the timers after time has passed. */
export function tick(model: Model): void {
  const silent = !model.online && model.now - Math.max(model.heardAt, model.processAt) > 30
  if (silent) model.offline = true
  for (const dock of model.docks) {
    if (silent && isReady(dock) && dock.pending === null) {
      dock.before = dock.state as 'ready' | 'idle'
      dock.state = 'unreachable'
    }
    if (isReady(dock) && dock.pending === null && dock.stopAt !== null && dock.stopAt <= model.now) {
      if (model.online) archive(model, dock, false)
      else Object.assign(dock, { state: 'archiving', pending: 'stop' })
    }
    if (isReady(dock)) {
      if (dock.used) Object.assign(dock, { state: 'ready', activeAt: model.now })
      else if (dock.state === 'ready' && model.now - dock.activeAt >= 900) dock.state = 'idle'
    }
    dock.used = false
  }
  for (const [key, { at }] of model.keys)
    if (at <= model.now - limits.idempotencyKeepSeconds) model.keys.delete(key)
}
