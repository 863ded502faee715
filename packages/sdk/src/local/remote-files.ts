/** What copying between this computer and a Dock needs of the Dock's files. */
import type { FileData } from '../file-data.ts'
import type { Abortable } from '../request-options.ts'

export type RemoteFiles = {
  stream(path: string, options: Abortable & { onOpen(headers: Headers): void }): AsyncIterable<Uint8Array>
  tar(path: string, options: Abortable): AsyncIterable<Uint8Array>
  write(path: string, data: FileData, options: Abortable & { mode: string }): Promise<unknown>
  writeTar(path: string, tar: FileData, options: Abortable): Promise<unknown>
  mkdir(path: string, options: Abortable): Promise<unknown>
}
