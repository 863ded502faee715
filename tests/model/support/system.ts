/** The system that the model is compared with: a control plane with an in-memory host, or a server with real Docks. */
import { type Dock, errorCodes, type Operation } from '@dock/contract'
import type { Kysely } from 'kysely'
import type { Model } from './model.ts'

/** Ways in which a host fails a command. Null means no failure. */
export type Failure = 'failed' | 'lost' | 'lost-after' | null

/** Calls of the API. Each throws an error with a code if it is refused. */
export type Calls = {
  create(body: { name: string | null; ttlSeconds: number | null }, key: string | null): Promise<unknown>
  branch(id: string, key: string | null): Promise<unknown>
  stop(id: string, force: boolean): Promise<Pick<Dock, 'state'>>
  resume(id: string, body: { ttlSeconds?: number | null }): Promise<unknown>
  remove(id: string): Promise<Operation>
  update(id: string, body: { name?: string; ttlSeconds?: number | null }): Promise<unknown>
  /** Runs a command that prints `text`. Returns its output. */
  exec(id: string, text: string, key: string | null): Promise<string>
  list(): Promise<Dock[]>
  /** Returns the id of a completed Snapshot of the Dock. */
  findSnapshot(id: string): Promise<string | undefined>
  removeSnapshot(id: string): Promise<Operation>
}

export type HostCommand = 'start' | 'stop' | 'capture' | 'destroy' | 'destroyCapture' | 'exec'

export type System = {
  // biome-ignore lint/suspicious/noExplicitAny: used only with raw SQL.
  db: Kysely<any>
  calls: Calls
  /** Makes the next command of this kind to the host fail. */
  failNext(command: HostCommand, failure: Exclude<Failure, null> | 'busy'): void
  /** Waits until all operations are completed or blocked. If the host is online, it has reported by then. */
  settle(online: boolean): Promise<void>
  /** Checks the host and the view of strangers. */
  check(model: Model): Promise<void>
}

/** Returns the error code of a refusal, or `done`. Rethrows every other error. */
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
