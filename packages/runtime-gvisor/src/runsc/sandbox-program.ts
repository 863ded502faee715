/**
 * Chooses the runsc program for calls to a sandbox: always the program it was started with, even after an upgrade at
 * the configured path. The identity of the program is stored with the sandbox's configuration at boot. If the
 * configured program has changed since, calls run the sentry's own executable through /proc.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { identityOf } from './program-identity.ts'
import type { Runsc } from './runsc.ts'

const fileName = 'runsc'

/**
 * Stores the identity of the current program. Call it before the start, so that an upgrade during the start is noticed.
 */
export function recordProgram(runsc: Runsc, folder: string): void {
  writeFileSync(join(folder, fileName), identityOf(runsc.path), { mode: 0o600 })
}

const recorded = (folder: string): string | undefined => {
  try {
    return readFileSync(join(folder, fileName), 'utf8')
  } catch {
    // A driver version that stored no identity started this sandbox.
    return undefined
  }
}

/** Returns the identity of the program that the sandbox in this folder was started with; empty if it was not stored. */
export function programIdentity(folder: string): string {
  return recorded(folder) ?? ''
}

/** Returns true if the program at the configured path is not the one the sandbox was started with. */
export function isOutdated(runsc: Runsc, folder: string): boolean {
  const identity = recorded(folder)
  return identity !== undefined && identity !== identityOf(runsc.path)
}

/** Returns the runsc for a running sandbox; `pid` is its sentry. */
export function runscOf(runsc: Runsc, folder: string, pid: number | undefined): Runsc {
  return pid !== undefined && isOutdated(runsc, folder) ? runsc.at(`/proc/${pid}/exe`) : runsc
}

/** A runsc that can still be run after its sandbox died. The caller must close it. */
export type HeldRunsc = { runsc: Runsc; close(): Promise<void> }

/** Like {@link runscOf}, but keeps the executable open, because it may be deleted from disk once the sentry dies. */
export async function holdRunscOf(runsc: Runsc, folder: string, pid: number | undefined): Promise<HeldRunsc> {
  const { path } = runscOf(runsc, folder, pid)
  // The sentry may have just died; then fall back to the configured program.
  const file = path === runsc.path ? undefined : await open(path, 'r').catch(() => undefined)
  if (!file) return { runsc, close: async () => undefined }
  return { runsc: runsc.at(`/proc/${process.pid}/fd/${file.fd}`), close: () => file.close() }
}
