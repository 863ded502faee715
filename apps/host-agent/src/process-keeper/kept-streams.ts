/** The streams of one process: its pipes while they are open, and its kept output, which also outlives the keeper. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeptInputOffset } from '@dock/host-protocol'
import type { DockBudget, Segment } from './dock-budget.ts'
import { KeeperRefusal } from './keeper-refusal.ts'
import { OutputStream } from './output-store.ts'
import { type PipePaths, Pipes } from './pipes.ts'

export type StreamName = 'stdout' | 'stderr'
export const streamNames: readonly StreamName[] = ['stdout', 'stderr']

/** Offsets of an output: the first kept byte, and the byte after the last one. */
export type OutputState = { first: number; end: number; isOpen: boolean }
/** `stderr` is null if the process has one stream for both, as on a terminal. `lost`: an earlier keeper had the pipes. */
export type StreamsState = {
  stdin: { offset: number; isOpen: boolean }
  stdout: OutputState
  stderr: OutputState | null
  lost: boolean
}

/**
 * `stdin: false`: the input ends at the start. `stderr: false`: both outputs share one stream. `holdOutput`: drops nothing
 * before the first reader comes, for as long as a reader may hold. `owner`: the organization whose part of the host's budget
 * the output takes.
 */
export type WantedStreams = {
  stdin: boolean
  stderr: boolean
  holdOutput: boolean
  owner?: string | undefined
}

const stateOf = ({ first, end, isOpen }: OutputStream): OutputState => ({ first, end, isOpen })

export class KeptStreams {
  readonly #folder: string
  readonly #outputs: { stdout: OutputStream; stderr: OutputStream | null }
  readonly #pipes: Pipes | null
  readonly #hasInput: boolean

  private constructor(
    folder: string,
    outputs: { stdout: OutputStream; stderr: OutputStream | null },
    pipes: Pipes | null,
    hasInput: boolean,
  ) {
    this.#folder = folder
    this.#outputs = outputs
    this.#pipes = pipes
    this.#hasInput = hasInput
  }

  /** Makes the pipes of a process that is about to start. Throws `conflict` if the folder exists. */
  static async create(
    folder: string,
    budget: DockBudget,
    wanted: WantedStreams,
    log: (error: unknown) => void,
  ): Promise<KeptStreams> {
    await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
      throw new KeeperRefusal('conflict', 'this process exists already')
    })
    const outputs = {
      stdout: new OutputStream(folder, 'stdout', budget, [], true),
      stderr: wanted.stderr ? new OutputStream(folder, 'stderr', budget, [], true) : null,
    }
    if (wanted.holdOutput) for (const output of [outputs.stdout, outputs.stderr]) output?.awaitReader()
    return new KeptStreams(folder, outputs, new Pipes(folder, outputs, log), wanted.stdin)
  }

  /** Reads what an earlier keeper left of a process. */
  static async load(folder: string, budget: DockBudget): Promise<KeptStreams> {
    const names = await readdir(folder)
    for (const name of names) if (name.endsWith('.pipe')) await rm(join(folder, name))
    const load = async (stream: StreamName) =>
      new OutputStream(folder, stream, budget, await findSegments(folder, names, stream, budget), false)
    const outputs = { stdout: await load('stdout'), stderr: await load('stderr') }
    return new KeptStreams(folder, outputs, null, false)
  }

  /** True while the keeper holds an end of a pipe of the process. */
  get isOpen(): boolean {
    const { stdout, stderr } = this.#outputs
    if (!this.#pipes) return false
    return stdout.isOpen || stderr?.isOpen === true || this.#pipes.input.isRead
  }

  get state(): StreamsState {
    const { stdout, stderr } = this.#outputs
    const input = this.#pipes?.input
    return {
      stdin: { offset: input?.accepted ?? 0, isOpen: input?.isRead ?? false },
      stdout: stateOf(stdout),
      stderr: stderr && stateOf(stderr),
      lost: this.#pipes === null,
    }
  }

  get paths(): PipePaths {
    return this.#live.paths
  }

  /** Throws `not_found` if the process has no such stream. */
  output(name: StreamName): OutputStream {
    const output = this.#outputs[name]
    if (!output) throw new KeeperRefusal('not_found', `the process has no ${name} of its own`)
    return output
  }

  /** The process has its own ends of the pipes. Idempotent. */
  async markStarted(): Promise<void> {
    await this.#live.release()
    if (!this.#hasInput) this.endInput()
  }

  /** See {@link InputStream.write} and {@link InputStream.append}. */
  writeInput(offset: KeptInputOffset, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const { input } = this.#live
    return offset === 'next' ? input.append(chunks) : input.write(offset, chunks)
  }

  endInput(): void {
    this.#pipes?.input.end()
  }

  /** The read ends of the outputs that some process still holds. */
  heldOutputs(): number[] {
    return this.#pipes?.heldOutputs() ?? []
  }

  /** Closes the pipes and removes the kept output. */
  async remove(): Promise<void> {
    // The outputs first: their readers must notice that they do not get everything.
    for (const output of [this.#outputs.stdout, this.#outputs.stderr]) await output?.remove()
    await this.#pipes?.destroy()
    await rm(this.#folder, { recursive: true, force: true })
  }

  get #live(): Pipes {
    if (!this.#pipes) throw new KeeperRefusal('conflict', 'the keeper that held this process has ended')
    return this.#pipes
  }
}

/** Returns the stream's segments without those before a gap, which a crash while segments are dropped can leave. */
const findSegments = async (
  folder: string,
  names: readonly string[],
  stream: StreamName,
  budget: DockBudget,
): Promise<Segment[]> => {
  let segments: Segment[] = []
  for (const name of names
    .filter((each) => each.startsWith(`${stream}.`) && !each.endsWith('.pipe'))
    .toSorted()) {
    const path = join(folder, name)
    const start = Number(name.slice(stream.length + 1))
    const end = start + (await stat(path)).size
    if (segments.at(-1)?.end !== start) segments = []
    segments.push({ path, start, end, order: budget.nextOrder() })
  }
  return segments
}
