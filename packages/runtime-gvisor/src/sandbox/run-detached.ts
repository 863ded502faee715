/** Starts a sandbox that outlives the `runsc` call that started it, and tells when process 1 is ready. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { InputPipe } from '../pipes/input-pipe.ts'
import { hasSpareCpu } from '../system/spare-cpu.ts'

const readyTimeoutMs = 30_000
const outputBytesMax = 4096
/**
 * Processes inside inherit this score, so the OOM killer prefers them. The sandbox itself gets a lower one after the
 * boot.
 */
const launch = 'echo 800 >/proc/self/oom_score_adj; exec "$0" "$@"'
/**
 * SCHED_BATCH, as for the first moments of a command (batch-scheduling.ts). Concurrent boots all finish sooner with it.
 */
const batchPrefix = ['chrt', '--batch', '0']
const underWay = new Set<object>()

/** A call of runsc, whose streams become those of process 1. */
export class DetachedCall {
  /** Resolves when the call has exited with 0. Otherwise rejects with the text of standard error. */
  readonly exited: Promise<void>
  /**
   * Resolves when the sandbox wrote `0` and a line break to its standard output. Rejects if it wrote something else, or
   * ended.
   */
  readonly ready: Promise<void>
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly #input: InputPipe | undefined
  #stderr = ''

  /** With `takesInput`, process 1 can read what {@link give} writes. */
  constructor(program: string, args: readonly string[], options: { takesInput: boolean; isBatch: boolean }) {
    const command = [...(options.isBatch ? batchPrefix : []), program, ...args]
    // A pipe, because bash reads root's .bashrc if its input is a socket.
    this.#input = options.takesInput ? new InputPipe() : undefined
    const child = spawn('/bin/sh', ['-c', launch, ...command], {
      stdio: [this.#input?.readFd ?? 'ignore', 'pipe', 'pipe'],
    }) as ChildProcessByStdio<null, Readable, Readable>
    this.#child = child
    const [exited, ready] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    ;[this.exited, this.ready] = [exited.promise, ready.promise]
    for (const each of [exited, ready]) each.promise.catch(() => undefined)
    child.once('error', (error) => {
      exited.reject(error)
      ready.reject(error)
    })
    this.#input?.closeReader()
    // Without descriptors left, the child has no streams.
    if (!child.stdout || !child.stderr) return
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(0, outputBytesMax)
    })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(0, outputBytesMax)
      if (stdout === '0\n') ready.resolve()
      else if (stdout.includes('\n'))
        ready.reject(
          new Error(`preparing the sandbox failed with exit code ${stdout.trim()}: ${this.#stderr.trim()}`),
        )
    })
    child.stdout.once('end', () =>
      ready.reject(new Error(`the sandbox ended while it started: ${this.#stderr.trim()}`)),
    )
    child.once('exit', (code) => {
      if (code === 0) exited.resolve()
      else exited.reject(new Error(`runsc: exit ${code ?? 128}: ${this.#stderr.trim()}`))
    })
  }

  /** Writes the input of process 1, which reads an end of file after it. */
  give(input: Buffer): void {
    this.#input?.write(input)
    this.#input?.end()
  }

  /** Closes the streams, so that nothing in the sandbox can make the host buffer output. */
  close(): void {
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
    this.#input?.destroy()
  }
}

/** Rejects if `work` takes longer than a boot may take. */
export async function withinBootTime(work: Promise<unknown>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error(`the sandbox was not ready after ${readyTimeoutMs} ms`)),
    readyTimeoutMs,
  )
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/**
 * Runs `program` with `args`, and with `input` on the sandbox's standard input. Resolves when the program has exited
 * with 0 and process 1 is ready. Otherwise rejects with the text of standard error.
 */
export async function runDetached(program: string, args: readonly string[], input?: Buffer): Promise<void> {
  const isBatch = underWay.size > 0 || hasSpareCpu()
  const call = new DetachedCall(program, args, { takesInput: Boolean(input?.length), isBatch })
  underWay.add(call)
  try {
    if (input) call.give(input)
    await withinBootTime(Promise.all([call.exited, call.ready]))
  } finally {
    underWay.delete(call)
    call.close()
  }
}
