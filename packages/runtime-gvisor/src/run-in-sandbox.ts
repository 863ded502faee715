/** One command of a tenant: marked, timed, and ended with its whole tree when its time is up. */
import { setTimeout as delay } from 'node:timers/promises'
import { ExecRefused, type ExecRequest, type ExecResult } from '@dock/runtime'
import { endTree } from './end-tree.ts'
import { markCapabilities, markVariable, newExecMark } from './exec-mark.ts'
import type { ExecTransport } from './exec-transport.ts'
import { runToEnd } from './run-to-end.ts'

/** How long the answer waits for the end of a tree; the work on it goes on after that. */
const endingMs = 30_000
/** How long it waits, once the tree is ended, to be told of the end. */
const graceMs = 2000
const killedExitCode = 137

/** Runs it to its end or its timeout. Throws ExecRefused when the sandbox does not start it. */
export const runInSandbox = async (
  transport: ExecTransport,
  sandbox: { id: string; isAlive: boolean },
  request: ExecRequest,
): Promise<ExecResult> => {
  const { argv, cwd, uid, gid, input, outputLimitBytes, onOutput, timeoutMs, signal } = request
  const mark = newExecMark()
  const command = {
    ...{ argv, cwd, uid, gid },
    env: { ...request.env, [markVariable]: mark },
    alsoBounding: markCapabilities(mark),
  }
  const begin = performance.now()
  let kill = async (): Promise<void> => undefined
  const end = () => {
    const tree = { mark, ageMs: performance.now() - begin, kill: () => kill() }
    return endTree(transport, sandbox, tree)
  }

  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<void>()
  let ending: Promise<void> | undefined
  let timedOut = false
  const stop = (): void => {
    if (ending) return
    ending = Promise.race([end(), delay(endingMs, undefined, { ref: false })])
    void ending.then(() => delay(graceMs, undefined, { ref: false })).then(giveUp)
  }
  const timer = setTimeout(() => {
    timedOut = true
    stop()
  }, timeoutMs)
  signal?.addEventListener('abort', stop)
  const onStarted: Parameters<typeof runToEnd>[3]['onStarted'] = (started) => {
    kill = () => started.kill()
    if (signal?.aborted) stop()
    started.pid().then((pid) => request.onStarted?.({ pid, mark }))
  }
  try {
    const wanted = { input, outputLimitBytes, onOutput, onStarted }
    const ran = await runToEnd(transport, sandbox.id, command, wanted, givenUp)
    await ending
    if (ran.exitCode === 'refused') throw new ExecRefused(ran.stderr.toString('utf8').trim().slice(0, 1000))
    const exitCode = ran.exitCode === 'unknown' ? killedExitCode : ran.exitCode
    return { ...ran, exitCode, durationMs: Math.round(performance.now() - begin), timedOut }
  } catch (error) {
    // Whether it was started is unknown: nothing of it may go on.
    if (!(error instanceof ExecRefused)) stop()
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}
