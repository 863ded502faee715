/** Runs a tenant's command: marks it, and kills its whole process tree at the timeout. */
import { systemClock, waitAtMost } from '@dock/foundation'
import { ExecRefused, type ExecRequest, type ExecResult } from '@dock/runtime'
import type { LeftOutputs, LeftPipe } from '../pipes/left-outputs.ts'
import { markCapabilities, markVariable } from '../sandbox/exec-mark.ts'
import type { LiveSandbox } from '../sandbox/live-sandbox.ts'
import { endTree } from './end-tree.ts'
import type { ExecTransport } from './exec-transport.ts'
import { runToEnd } from './run-to-end.ts'

/** How long the result waits for the tree to end. Killing the tree continues after that. */
const endingMs = 30_000
/** How long to wait for the exit code once no process of the tree is found. */
const graceMs = 500
const killedExitCode = 137

/**
 * Runs the command until it ends or times out. `left` takes over the outputs that its background processes hold. Throws
 * ExecRefused if the sandbox does not start it.
 */
export async function runInSandbox(
  transport: ExecTransport,
  sandbox: Pick<LiveSandbox, 'id' | 'isAlive' | 'marks' | 'underWay' | 'killedForMemory' | 'endingForMemory'>,
  request: ExecRequest,
  left?: LeftOutputs,
): Promise<ExecResult> {
  const { argv, executable, cwd, uid, gid, input, outputLimitBytes, onOutput, timeoutMs, signal } = request
  const mark = sandbox.marks.next()
  const command = {
    ...{ argv, executable, cwd, uid, gid },
    env: { ...request.env, [markVariable]: mark },
    alsoBounding: markCapabilities(mark),
  }
  const begin = performance.now()
  let kill = async (): Promise<void> => undefined
  const end = () => {
    const tree = { mark, ageMs: performance.now() - begin, kill: () => kill() }
    return endTree(transport, sandbox, tree)
  }

  const { promise: abandoned, resolve: abandon } = Promise.withResolvers<void>()
  const { promise: over, resolve: isOver } = Promise.withResolvers<true>()
  let ending: Promise<void> | undefined
  let timedOut = false
  const endUntilOver = async (): Promise<void> => {
    const deadline = performance.now() + endingMs
    // Repeat, because a command that was about to start during the first scan is found only by the next one.
    for (let ended = false; !ended && performance.now() < deadline; ) {
      await waitAtMost(systemClock, deadline - performance.now(), end())
      ended = (await waitAtMost(systemClock, graceMs, over)) !== 'late'
    }
    abandon()
  }
  const stop = (): void => {
    ending ??= endUntilOver()
  }
  const timer = setTimeout(() => {
    timedOut = true
    stop()
  }, timeoutMs)
  signal?.addEventListener('abort', stop)
  const onStarted: Parameters<typeof runToEnd>[3]['onStarted'] = (started) => {
    kill = () => started.kill()
    if (signal?.aborted) stop()
    started.pid().then(
      (pid) => {
        // `runsc exec` tells the number a moment later: the command may have ended by then.
        if (!sandbox.underWay.has(mark)) return
        commandPid = pid
        if (pid > 0) sandbox.killedForMemory.set(pid, killedForMemory)
        request.onStarted?.({ pid, mark })
        // A command that did not start says so itself.
      },
      () => undefined,
    )
  }
  const killedForMemory: string[] = []
  let commandPid = 0
  sandbox.underWay.add(mark)
  try {
    const onLeft = left && ((outputs: readonly LeftPipe[]) => void left.take(sandbox.id, outputs))
    const wanted = { input, outputLimitBytes, onOutput, onStarted, ...(onLeft && { onLeft }) }
    const ran = await runToEnd(transport, sandbox.id, command, wanted, abandoned)
    isOver(true)
    await ending
    // The exit code can arrive before the confirmation of the signal that killed the command.
    if (sandbox.endingForMemory) await sandbox.endingForMemory
    if (ran.exitCode === 'refused') throw new ExecRefused(ran.stderr.toString('utf8').trim().slice(0, 1000))
    const exitCode = ran.exitCode === 'unknown' ? killedExitCode : ran.exitCode
    const durationMs = Math.round(performance.now() - begin)
    return { ...ran, exitCode, durationMs, timedOut, killedForMemory: killedForMemory }
  } catch (error) {
    // The command may have started, so end it.
    if (!(error instanceof ExecRefused)) void end()
    throw error
  } finally {
    isOver(true)
    sandbox.underWay.delete(mark)
    if (sandbox.killedForMemory.get(commandPid) === killedForMemory)
      sandbox.killedForMemory.delete(commandPid)
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}
