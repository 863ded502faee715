/** The named pipes of one process, and what the keeper does with its ends of them. */
import { closeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { InputStream } from './input-stream.ts'
import { createNamedPipe, openNamedPipe } from './named-pipe.ts'
import type { OutputStream } from './output-store.ts'
import { type Pump, pumpOutput } from './pump-output.ts'

/** Paths of the pipes that the process is started with. `stderr` is null if it shares the pipe of stdout. */
export type PipePaths = { stdin: string; stdout: string; stderr: string | null }

export class Pipes {
  readonly paths: PipePaths
  readonly input: InputStream
  /** The ends that belong to the process. Our copies keep the pipes from ending until it has its own. */
  #processEnds: number[] = []
  readonly #pumps: Pump[] = []

  constructor(
    folder: string,
    outputs: { stdout: OutputStream; stderr: OutputStream | null },
    log: (error: unknown) => void,
  ) {
    const make = (name: string): string => {
      const path = join(folder, `${name}.pipe`)
      createNamedPipe(path)
      return path
    }
    const pump = (path: string, output: OutputStream): string => {
      const { readFd, writeFd } = openNamedPipe(path)
      this.#processEnds.push(writeFd)
      this.#pumps.push(pumpOutput(readFd, output, log))
      return path
    }
    const stdin = make('stdin')
    const { readFd, writeFd } = openNamedPipe(stdin)
    this.#processEnds.push(readFd)
    this.input = new InputStream(writeFd)
    this.paths = {
      stdin,
      stdout: pump(make('stdout'), outputs.stdout),
      stderr: outputs.stderr && pump(make('stderr'), outputs.stderr),
    }
  }

  /** The process has its own copies of its ends. From now on a pipe ends with the process. Idempotent. */
  async release(): Promise<void> {
    for (const descriptor of this.#processEnds.splice(0)) closeSync(descriptor)
    const { stdin, stdout, stderr } = this.paths
    for (const path of [stdin, stdout, ...(stderr ? [stderr] : [])]) await rm(path, { force: true })
  }

  /** The read ends of the outputs that have not ended. */
  heldOutputs(): number[] {
    return this.#pumps.map(({ heldFd }) => heldFd()).filter((each) => each !== null)
  }

  /** Closes everything at once. The process gets SIGPIPE when it writes, and the end of its input. */
  async destroy(): Promise<void> {
    this.input.destroy()
    for (const pump of this.#pumps) pump.stop()
    await this.release()
  }
}
