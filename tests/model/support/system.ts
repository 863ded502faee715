/** What the model is compared with: a control plane with a host in memory, or a whole server with real Docks. */
import { type Dock, errorCodes, type Operation } from '@dock/contract'
import type { Kysely } from 'kysely'
import type { Model } from './model.ts'

/** Ways in which a host fails one command; null for none. */
export type Failure = 'failed' | 'lost' | 'lost-after' | null

/** What callers do, each throwing an error with a code when it is refused. */
export type Calls = {
  create(body: { name: string | null; ttlSeconds: number | null }, key: string | null): Promise<unknown>
  branch(id: string, key: string | null): Promise<unknown>
  stop(id: string, force: boolean): Promise<Pick<Dock, 'state'>>
  resume(id: string, body: { ttlSeconds?: number | null }): Promise<unknown>
  remove(id: string): Promise<Operation>
  update(id: string, body: { name?: string; ttlSeconds?: number | null }): Promise<unknown>
  /** What a command writes that writes this text. */
  exec(id: string, text: string, key: string | null): Promise<string>
  list(): Promise<Dock[]>
  /** A completed Snapshot of a Dock. */
  findSnapshot(id: string): Promise<string | undefined>
  removeSnapshot(id: string): Promise<Operation>
}

export type HostCommand = 'start' | 'stop' | 'capture' | 'destroy' | 'destroyCapture' | 'exec'

export type System = {
  // biome-ignore lint/suspicious/noExplicitAny: its tables are read by statements of their own.
  db: Kysely<any>
  calls: Calls
  /** Fails the next of a host's commands. */
  failNext(command: HostCommand, failure: Exclude<Failure, null> | 'busy'): void
  /** Until nothing is under way but what waits for a silent host; a host that is there has reported. */
  settle(online: boolean): Promise<void>
  /** What holds of the machine and for strangers. */
  check(model: Model): Promise<void>
}

/** The code of what was thrown, or `done`; anything but a refusal to the caller is a defect. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (typeof code === 'string' && code in errorCodes) return code
    throw error
  }
}
