/** The Snapshots of Docks. Their files can be read while the Dock is stopped. */
import { allPages } from './all-pages.ts'
import { bodyChunks } from './body-chunks.ts'
import type { Client } from './client.ts'
import type { Snapshot, SnapshotTree } from './generated/route-types.ts'
import type { Abortable } from './request-options.ts'
import { untilCompleted } from './until-completed.ts'

export class Snapshots {
  readonly #client: Client
  constructor(client: Client) {
    this.#client = client
  }

  /** Returns all Snapshots that you can see, or those of one Dock, newest first. */
  list({ dockId, signal }: Abortable & { dockId?: string | undefined } = {}): Promise<Snapshot[]> {
    return allPages(async (cursor) => {
      const query = { limit: 100, cursor }
      const { snapshots, nextCursor } =
        dockId === undefined
          ? await this.#client.call('listSnapshots', { query, signal })
          : await this.#client.call('listDockSnapshots', { params: { id: dockId }, query, signal })
      return { items: snapshots, nextCursor }
    })
  }

  /** Returns the latest completed Snapshot of a Dock, or null. */
  latest(dockId: string, { signal }: Abortable = {}): Promise<Snapshot | null> {
    return this.#client.call('readLatestSnapshot', { params: { id: dockId }, signal })
  }

  /** Returns all files of a Snapshot. */
  async tree(id: string, { signal }: Abortable = {}): Promise<SnapshotTree['files']> {
    return (await this.#client.call('readSnapshotTree', { params: { id }, signal })).files
  }

  /** Returns the bytes of a file. `path` is as in the tree. */
  read(id: string, path: string, { signal }: Abortable = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.#client.call('readSnapshotFile', { params: { id }, query: { path }, signal })
  }

  /** Returns a file as text. */
  async readText(id: string, path: string, options: Abortable = {}): Promise<string> {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await this.read(id, path, options))
  }

  /** Yields the bytes of a file as they arrive. */
  async *stream(
    id: string,
    path: string,
    { signal }: Abortable = {},
  ): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const response = await this.#client.open('readSnapshotFile', { params: { id }, query: { path }, signal })
    yield* bodyChunks(response, signal)
  }

  /** Deletes a Snapshot, for good. */
  async delete(id: string, { signal }: Abortable = {}): Promise<void> {
    const headers = { 'x-confirm-delete': id }
    const { operation } = await this.#client.call('deleteSnapshot', { params: { id }, headers, signal })
    await untilCompleted(this.#client, operation, signal)
  }
}
