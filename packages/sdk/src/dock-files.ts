/** The files of a running Dock. Paths are absolute, or relative to the work folder. */
import { allPages } from './all-pages.ts'
import { bodyChunks, collect } from './body-chunks.ts'
import type { Client } from './client.ts'
import { bodyOf, type FileData } from './file-data.ts'
import type { FileEntry } from './generated/route-types.ts'
import { type ReadOptions, readFile } from './read-file.ts'
import type { Abortable } from './request-options.ts'
import { type FileWatchOptions, type WatchedChange, watchFiles } from './watch-files.ts'

const workFolder = '/home/user/work'

/** Returns the absolute path of a path in the work folder. */
export function absolutePath(path: string): string {
  const relative = path.replace(/^(\.\/+)*(\.$)?/, '')
  return path.startsWith('/') ? path : relative === '' ? workFolder : `${workFolder}/${relative}`
}

export class DockFiles {
  readonly #client: Client
  readonly #params: { id: string }
  constructor(client: Client, id: string) {
    this.#client = client
    this.#params = { id }
  }

  /** Returns the bytes of a file, or of a part of it. */
  read(path: string, options: ReadOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return collect(this.stream(path, options))
  }

  /** Returns a file as text. */
  async readText(path: string, options: ReadOptions = {}): Promise<string> {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await this.read(path, options))
  }

  /**
   * Yields the bytes of a file as they arrive. Goes on where a connection broke; throws `file_changed` if the file is no
   * longer the same then.
   */
  stream(path: string, options: ReadOptions = {}): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    return readFile(this.#client, this.#params, absolutePath(path), options)
  }

  /** Yields a file or folder as tar. */
  async *tar(path: string, { signal }: Abortable = {}): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const query = { path: absolutePath(path) }
    const headers = { accept: 'application/x-tar' }
    yield* bodyChunks(
      await this.#client.open('readDockFile', { params: this.#params, query, headers, signal }),
      signal,
    )
  }

  /** Writes a file. Nobody sees half of it. `mode` is octal, for example `'755'`. */
  async write(
    path: string,
    data: FileData,
    { mode, signal }: Abortable & { mode?: string | undefined } = {},
  ): Promise<FileEntry> {
    const query = { path: absolutePath(path), mode }
    return this.#client.call('writeDockFile', {
      params: this.#params,
      query,
      body: await bodyOf(data),
      signal,
    })
  }

  /** Unpacks a tar into a folder. Files are replaced, nothing is removed. */
  async writeTar(path: string, tar: FileData, { signal }: Abortable = {}): Promise<FileEntry> {
    return this.#client.call('writeDockFile', {
      params: this.#params,
      query: { path: absolutePath(path) },
      headers: { 'content-type': 'application/x-tar' },
      body: await bodyOf(tar),
      signal,
    })
  }

  /** Describes a file or folder. A link is described itself. */
  async stat(path: string, { signal }: Abortable = {}): Promise<FileEntry> {
    const query = { path: absolutePath(path), limit: 1 }
    return (await this.#client.call('listDockFiles', { params: this.#params, query, signal })).entry
  }

  /** Returns what a folder contains, sorted by name. */
  list(path = '.', { signal }: Abortable = {}): Promise<FileEntry[]> {
    return allPages(async (cursor) => {
      const query = { path: absolutePath(path), cursor }
      const page = await this.#client.call('listDockFiles', { params: this.#params, query, signal })
      return { items: page.entries, nextCursor: page.nextCursor }
    })
  }

  /** Makes a folder and those above it. One that is there already is no error. */
  mkdir(path: string, { mode, signal }: Abortable & { mode?: string | undefined } = {}): Promise<FileEntry> {
    const body = { path: absolutePath(path), mode, parents: true }
    return this.#client.call('makeDockFolder', { params: this.#params, body, signal })
  }

  /** Moves or renames. Replaces a file only with `overwrite`. */
  move(
    from: string,
    to: string,
    { overwrite, signal }: Abortable & { overwrite?: boolean | undefined } = {},
  ): Promise<FileEntry> {
    const body = { from: absolutePath(from), to: absolutePath(to), overwrite }
    return this.#client.call('moveDockFile', { params: this.#params, body, signal })
  }

  /** Deletes a file or an empty folder; with `recursive` a folder with all it contains. */
  async delete(
    path: string,
    { recursive, signal }: Abortable & { recursive?: boolean | undefined } = {},
  ): Promise<void> {
    const query = { path: absolutePath(path), recursive }
    await this.#client.call('deleteDockFile', { params: this.#params, query, signal })
  }

  /** Yields the changes in a folder from now on, until the loop is left or the folder is gone. */
  watch(path = '.', options: FileWatchOptions = {}): AsyncGenerator<WatchedChange, void, undefined> {
    return watchFiles(this.#client, this.#params, absolutePath(path), options)
  }

  /**
   * Copies a file or folder of this computer into the Dock. The content of a folder goes into the folder `to`. Links are
   * copied as links. Not in browsers: use `write`.
   */
  async upload(from: string, to: string, options: Abortable = {}): Promise<void> {
    const { uploadLocal } = await import('./local/upload-local.ts')
    await uploadLocal(this, from, absolutePath(to), options)
  }

  /**
   * Copies a file or folder of the Dock to this computer. The content of a folder goes into the folder `to`, and nothing is
   * written outside of it. Returns the links that were left out because they lead out of it. Not in browsers: use `read`.
   */
  async download(from: string, to: string, options: Abortable = {}): Promise<{ skippedLinks: string[] }> {
    const { downloadToLocal } = await import('./local/download-to-local.ts')
    return downloadToLocal(this, absolutePath(from), to, options)
  }
}
