/** The processes of a Dock that outlive the program which started them. */

import type { BodyOf } from './call-types.ts'
import type { Client } from './client.ts'
import { absolutePath } from './dock-files.ts'
import { type AttachOptions, Process } from './dock-process.ts'
import type { DockProcess } from './generated/route-types.ts'
import type { Abortable } from './request-options.ts'

export type SpawnOptions = Omit<BodyOf<'startDockProcess'>, 'command' | 'argv'> &
  Abortable & { idempotencyKey?: string | undefined }

export class DockProcesses {
  readonly #client: Client
  readonly #id: string
  constructor(client: Client, id: string) {
    this.#client = client
    this.#id = id
  }

  /**
   * Starts a line of shell, or words that no shell reads. Give `stdin: true` to send input. Its first output waits for you
   * for up to 30 seconds, and the process with it once 4 MiB are kept; `holdOutput: false` if you never read it.
   */
  async start(command: string | readonly string[], options: SpawnOptions = {}): Promise<Process> {
    const { signal, idempotencyKey, ...body } = options
    const { id: pid } = await this.#client.call('startDockProcess', {
      params: { id: this.#id },
      body: {
        ...(typeof command === 'string' ? { command } : { argv: [...command] }),
        holdOutput: true,
        ...body,
        cwd: body.cwd && absolutePath(body.cwd),
      },
      headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
      signal,
    })
    return new Process(this.#client, { id: this.#id, pid })
  }

  /**
   * Returns a process that was started before, also by another program. `offset` is the first byte of stdout to read:
   * the number of bytes that you have.
   */
  attach(pid: string, from: AttachOptions = {}): Process {
    return new Process(this.#client, { id: this.#id, pid }, from)
  }

  /** Returns those that run, and the latest that have ended. */
  list({ signal }: Abortable = {}): Promise<DockProcess[]> {
    return this.#client.call('listDockProcesses', { params: { id: this.#id }, signal })
  }
}
