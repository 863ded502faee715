/** Runs a tenant's command in a guest until it ends. The timeout kills its whole process tree. */
import { systemClock, waitAtMost } from '@dock/foundation'
import { type ExecRequest, type ExecResult, signalNumbers } from '@dock/runtime'
import type { GuestEnd, GuestProgram } from '../link/index.ts'
import { referenceTo } from './guest-mark.ts'
import { asRefusal, type GuestSession, GuestSilent } from './guest-session.ts'

/** How long the result waits for a killed tree. A hostile guest may never say that it ended. */
const endingMs = 30_000
/** The order to kill is repeated: it is lost if the connection breaks. */
const killAgainMs = 2_000
const killedExitCode = 137

/** Returns the exit code as shells have it. */
export function exitCodeOf({ exitCode, signal }: Pick<GuestEnd, 'exitCode' | 'signal'>): number {
  return exitCode ?? 128 + (signal ?? 0)
}

class Output {
  readonly #limit: number
  readonly #chunks: Buffer[] = []
  readonly ended: Promise<void>
  #bytes = 0
  truncated = false

  constructor(stream: GuestProgram['stdout'], limit: number, onChunk: (chunk: Buffer) => void) {
    this.#limit = limit
    this.ended = new Promise((resolve) => stream.once('close', resolve))
    stream.on('data', (chunk: Buffer) => {
      const kept = chunk.subarray(0, this.#limit - this.#bytes)
      this.#bytes += kept.length
      this.truncated ||= kept.length < chunk.length
      if (kept.length === 0) return
      this.#chunks.push(kept)
      onChunk(kept)
    })
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }
}

/** Kills the tree of a program until it has ended, or until it is given up. */
export async function killTree(session: GuestSession, id: number, over: Promise<unknown>): Promise<void> {
  const deadline = performance.now() + endingMs
  do {
    const sent = session.ask((link) => link.signal(id, signalNumbers.KILL, 'tree'))
    await waitAtMost(systemClock, killAgainMs, sent)
  } while ((await waitAtMost(systemClock, killAgainMs, over)) === 'late' && performance.now() < deadline)
}

const writeInput = async ({ stdin }: GuestProgram, input: ExecRequest['input']): Promise<void> => {
  stdin.end(await Promise.resolve(input).catch(() => undefined))
}

/** Throws ExecRefused or SandboxGone. `underWay` has the channel while the command runs. */
export async function runCommand(
  session: GuestSession,
  request: ExecRequest,
  underWay: Set<number>,
): Promise<ExecResult> {
  const { argv, executable, env, cwd, uid, gid, input, outputLimitBytes, onOutput, timeoutMs, signal } =
    request
  const begin = performance.now()
  const program = await session
    .open({ argv, executable, env, cwd, uid, gid }, timeoutMs, signal)
    .catch((error: unknown) => {
      if (error instanceof GuestSilent) return null
      throw asRefusal(error)
    })
  if (!program)
    return {
      ...{ exitCode: killedExitCode, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), truncated: false },
      ...{ timedOut: !signal?.aborted, durationMs: Math.round(performance.now() - begin) },
      killedForMemory: [],
    }
  underWay.add(program.id)
  session.owned.add(program.id)
  const stdout = new Output(program.stdout, outputLimitBytes, (chunk) => onOutput?.('stdout', chunk))
  const stderr = new Output(program.stderr, outputLimitBytes, (chunk) => onOutput?.('stderr', chunk))
  const over = Promise.all([program.exited, stdout.ended, stderr.ended]).then(([end]) => end)
  over.catch(() => undefined)
  const { promise: abandoned, resolve: abandon } = Promise.withResolvers<null>()
  let timedOut = false
  let isStopping = false
  const stop = (): void => {
    if (isStopping) return
    isStopping = true
    void killTree(
      session,
      program.id,
      over.catch(() => undefined),
    )
      .catch(() => undefined)
      .then(() => abandon(null))
  }
  const timer = setTimeout(
    () => {
      timedOut = true
      stop()
    },
    timeoutMs - (performance.now() - begin),
  )
  signal?.addEventListener('abort', stop)
  try {
    if (signal?.aborted) stop()
    void writeInput(program, input)
    request.onStarted?.(referenceTo(program))
    const end = await session.follow(Promise.race([over, abandoned]))
    return {
      exitCode: end ? exitCodeOf(end) : killedExitCode,
      ...{ stdout: stdout.bytes(), stderr: stderr.bytes(), timedOut },
      durationMs: Math.round(performance.now() - begin),
      truncated: stdout.truncated || stderr.truncated,
      killedForMemory: end?.killedForMemory ?? [],
    }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
    underWay.delete(program.id)
    session.owned.delete(program.id)
    void program.close()
  }
}
