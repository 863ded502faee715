/** The streams of an attached process as anonymous pipes, and the descriptors of their other ends. */
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { openPipe, setPipeCapacity } from '../system/system-calls.ts'
import type { LeftPipe } from './left-outputs.ts'
import { ProcessOutput, processPipeBytes } from './process-output.ts'

export class ProcessStreams {
  readonly stdin: Socket
  readonly stdout: ProcessOutput
  /** Null on a pseudo-terminal, which has one output. */
  readonly stderr: ProcessOutput | null
  readonly #readFd: number
  #isOurs = true

  constructor({ isTerminal }: { isTerminal: boolean }) {
    const { readFd, writeFd } = openPipe()
    this.#readFd = readFd
    this.stdin = new Socket({ fd: writeFd, readable: false, writable: true })
    let stdout: ProcessOutput | undefined
    try {
      setPipeCapacity(writeFd, processPipeBytes)
      stdout = new ProcessOutput(this.stdin)
      this.stdout = stdout
      this.stderr = isTerminal ? null : new ProcessOutput(this.stdin)
    } catch (error) {
      // Without a free descriptor a pipe fails, and those before it must be closed.
      closeSync(readFd)
      this.stdin.destroy()
      stdout?.closeWriter()
      stdout?.destroy()
      throw error
    }
    // EPIPE: the program closed its end or exited.
    for (const stream of this.#all()) stream.on('error', () => undefined)
  }

  /** The program's ends. */
  get descriptors(): [number, number, number] {
    return [this.#readFd, this.stdout.writeFd, (this.stderr ?? this.stdout).writeFd]
  }

  /** Closes our copies of the program's ends. Call it once the program has its own copies. */
  closeTheirs(): void {
    if (!this.#isOurs) return
    this.#isOurs = false
    closeSync(this.#readFd)
    this.stdout.closeWriter()
    this.stderr?.closeWriter()
  }

  /**
   * Call it when the program has ended: the outputs end after what it wrote, and input has no reader any more. `onLeft`
   * takes over the pipes, which processes that the program left behind may hold. Without it they are closed.
   */
  finish(onLeft?: (outputs: readonly LeftPipe[]) => void): void {
    const outputs = this.stderr ? [this.stdout, this.stderr] : [this.stdout]
    for (const output of outputs) output.endAfterContent()
    if (onLeft) onLeft(outputs)
    else for (const output of outputs) output.close()
    this.closeInput()
  }

  /** Call it instead of {@link finish} if the outputs are to go on until no process holds them any more. */
  closeInput(): void {
    this.stdin.destroy()
  }

  destroy(): void {
    this.closeTheirs()
    for (const stream of this.#all()) stream.destroy()
  }

  #all() {
    return [this.stdin, this.stdout, ...(this.stderr ? [this.stderr] : [])]
  }
}
