/**
 * The folder of a test run. Vitest ends workers by a signal, so what lives as long as a worker lies in this folder, and the
 * run removes it.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const variable = 'DOCK_TEST_FOLDER'

/** Makes the folder before workers start, which inherit its name. Returns a function that removes it. */
export async function makeRunFolder(): Promise<() => Promise<void>> {
  const folder = process.env[variable] ?? (await mkdtemp(join(tmpdir(), 'dock-run-')))
  process.env[variable] = folder
  return () => rm(folder, { recursive: true, force: true })
}

/** The folder of the run, or that of temporary files outside of a run. */
export function runFolder(): string {
  return process.env[variable] ?? tmpdir()
}
