/**
 * Which runsc a sandbox is spoken to with: the one that it runs on, as long as it lives, whatever lies at the
 * configured path by then. At boot the identity of the configured program is written beside the sandbox's
 * configuration; when it is another later, the program is run through the sentry's own process.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Runsc } from './runsc.ts'

const fileName = 'runsc'

const identityOf = (path: string): string => {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev}:${ino}`
}

/** Writes down what the sandbox is about to be started with; before the start, so that a later program is told apart. */
export function recordProgram(runsc: Runsc, folder: string): void {
  writeFileSync(join(folder, fileName), identityOf(runsc.path), { mode: 0o600 })
}

const recorded = (folder: string): string | undefined => {
  try {
    return readFileSync(join(folder, fileName), 'utf8')
  } catch {
    // Booted by a driver that wrote none.
    return undefined
  }
}

/** The identity of the program that the sandbox in this folder was started with; empty when nobody wrote it down. */
export function programIdentity(folder: string): string {
  return recorded(folder) ?? ''
}

/** Whether another program than the sandbox's is at the configured path now. */
export function isOutdated(runsc: Runsc, folder: string): boolean {
  const identity = recorded(folder)
  return identity !== undefined && identity !== identityOf(runsc.path)
}

/** The runsc for a sandbox that runs; `pid` is its sentry. */
export function runscOf(runsc: Runsc, folder: string, pid: number | undefined): Runsc {
  return pid !== undefined && isOutdated(runsc, folder) ? runsc.at(`/proc/${pid}/exe`) : runsc
}

/** A runsc that still can be run when its sandbox is dead. Close it. */
export type HeldRunsc = { runsc: Runsc; close(): Promise<void> }

/** The same, held so that it outlives the sentry, whose program may be gone from every folder. */
export async function holdRunscOf(runsc: Runsc, folder: string, pid: number | undefined): Promise<HeldRunsc> {
  const { path } = runscOf(runsc, folder, pid)
  // A sentry that has just died leaves nothing to hold.
  const file = path === runsc.path ? undefined : await open(path, 'r').catch(() => undefined)
  if (!file) return { runsc, close: async () => undefined }
  return { runsc: runsc.at(`/proc/${process.pid}/fd/${file.fd}`), close: () => file.close() }
}
