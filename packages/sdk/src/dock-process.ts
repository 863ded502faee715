/** A process in a Dock that outlives the connection. */

import type { BodyOf } from './call-types.ts'
import type { Client } from './client.ts'
import type { DockProcess } from './generated/route-types.ts'
import { ProcessInput } from './process-input.ts'
import {
  type OutputChunk,
  type OutputOptions,
  ProcessOutputReader,
  type ProcessPlace,
  readBothOutputs,
  readOutput,
} from './process-output.ts'
import type { Abortable } from './request-options.ts'
import { untilReached } from './until-reached.ts'

type SignalBody = BodyOf<'signalDockProcess'>

/** A name of a signal without `SIG`. */
export type SignalName = SignalBody['signal']

export type WaitOptions = {
  /** Returns the process as it is after this time, though it runs. Default: waits for its end. */
  timeoutSeconds?: number | undefined
  signal?: AbortSignal | undefined
}

/** Where to go on reading. */
export type AttachOptions = {
  /** Offset of the first byte of stdout. Default: the first one that is kept. */
  offset?: number | undefined
  stderrOffset?: number | undefined
}

const inputs = new WeakMap<Client, Map<string, WeakRef<ProcessInput>>>()

/** Returns the one input of a process, so that two handles do not send the same offset. */
const inputOf = (client: Client, params: ProcessPlace): ProcessInput => {
  const known = inputs.get(client) ?? new Map<string, WeakRef<ProcessInput>>()
  inputs.set(client, known)
  const existing = known.get(params.pid)?.deref()
  if (existing) return existing
  const input = new ProcessInput(client, params)
  for (const [pid, reference] of known) if (!reference.deref()) known.delete(pid)
  known.set(params.pid, new WeakRef(input))
  return input
}

const longestWaitSeconds = 60

export class Process {
  /** The process's id, for `dock.processes.attach`. */
  readonly id: string
  /** Sends input. The process must have been started with `stdin: true`. */
  readonly stdin: ProcessInput
  readonly stdout: ProcessOutputReader
  readonly stderr: ProcessOutputReader
  readonly #client: Client
  readonly #params: ProcessPlace
  readonly #from: AttachOptions

  constructor(client: Client, params: ProcessPlace, from: AttachOptions = {}) {
    this.id = params.pid
    this.#client = client
    this.#params = params
    this.#from = from
    this.stdin = inputOf(client, params)
    this.stdout = new ProcessOutputReader((options) =>
      readOutput(client, params, 'stdout', { offset: from.offset, ...options }),
    )
    this.stderr = new ProcessOutputReader((options) =>
      readOutput(client, params, 'stderr', { offset: from.stderrOffset, ...options }),
    )
  }

  /** Yields both outputs as they come. After a broken connection it goes on where it was. */
  output(options: OutputOptions & AttachOptions = {}): AsyncGenerator<OutputChunk, void, undefined> {
    return readBothOutputs(this.#client, this.#params, { ...this.#from, ...options })
  }

  [Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    return this.output()
  }

  /** Reads state, exit code and offsets. */
  info({ signal }: Abortable = {}): Promise<DockProcess> {
    return this.#client.call('readDockProcess', { params: this.#params, signal })
  }

  /** Resolves when the process has ended. */
  async wait({ timeoutSeconds = Number.POSITIVE_INFINITY, signal }: WaitOptions = {}): Promise<DockProcess> {
    const deadline = Date.now() + timeoutSeconds * 1000
    for (;;) {
      const left = Math.max(0, Math.ceil((deadline - Date.now()) / 1000))
      const query = { timeoutSeconds: Math.min(longestWaitSeconds, left) }
      const process = await untilReached(signal, () =>
        this.#client.call('waitForDockProcess', { params: this.#params, query, signal }),
      )
      if (process.state === 'ended' || Date.now() >= deadline) return process
    }
  }

  /** Sends a signal to the process's group; `target` changes that. A process that has ended is no error. */
  async kill(
    name: SignalName = 'TERM',
    { target, signal }: Abortable & { target?: SignalBody['target'] } = {},
  ): Promise<void> {
    await this.#client.call('signalDockProcess', {
      params: this.#params,
      body: { signal: name, target },
      signal,
    })
  }

  /** Changes the size of the process's terminal. */
  async resize(cols: number, rows: number): Promise<void> {
    await this.#client.call('resizeDockProcess', { params: this.#params, body: { cols, rows } })
  }
}
