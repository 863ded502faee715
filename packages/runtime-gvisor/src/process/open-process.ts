/** Starts a tenant's program with streams. It is marked as every command is, so its whole tree can be ended. */
import { text } from 'node:stream/consumers'
import {
  ExecRefused,
  type OpenProcess,
  type ProcessEnd,
  type ProcessRequest,
  processEndOf,
  SandboxGone,
} from '@dock/runtime'
import { endTree } from '../exec/end-tree.ts'
import type { Command, ExecTransport, StartedCommand } from '../exec/exec-transport.ts'
import { runPlatformProgram } from '../exec/run-platform-program.ts'
import type { LeftOutputs } from '../pipes/left-outputs.ts'
import { ProcessStreams } from '../pipes/process-streams.ts'
import { markCapabilities, markVariable } from '../sandbox/exec-mark.ts'
import type { LiveSandbox } from '../sandbox/live-sandbox.ts'
import { ptyProgram, resizeProgram, terminalSize } from './pty-program.ts'

const resizeMs = 10_000
const reasonLengthMax = 1000

type Sandbox = Pick<
  LiveSandbox,
  'id' | 'isAlive' | 'marks' | 'underWay' | 'killedForMemory' | 'endingForMemory'
>

/**
 * `left` takes over the outputs that processes hold which the program left behind. Throws ExecRefused if the sandbox does
 * not start the program.
 */
export async function openProcess(
  transport: ExecTransport,
  sandbox: Sandbox,
  request: ProcessRequest,
  left?: LeftOutputs,
): Promise<OpenProcess> {
  const { cwd, uid, gid, pty } = request
  const mark = sandbox.marks.next()
  const { argv, env } = pty ? ptyProgram(request.argv, request.env, pty) : request
  const command: Command = {
    ...{ argv, cwd, uid, gid },
    // A terminal is held by a program of its own.
    executable: pty ? undefined : request.executable,
    env: { ...env, [markVariable]: mark },
    alsoBounding: markCapabilities(mark),
  }
  const streams = request.descriptors ? null : new ProcessStreams({ isTerminal: pty !== undefined })
  const begin = performance.now()
  sandbox.underWay.add(mark)
  try {
    const started = await transport.start(sandbox.id, command, request.descriptors ?? streams!.descriptors)
    streams?.closeTheirs()
    const pid = await started.pid()
    if (pid === 0) await refuseUnstarted(started, streams)
    const reference = { pid, mark, ...(pty ? { pty: true as const } : {}) }
    request.onStarted?.(reference)
    const exited = waitForEnd(sandbox, started, pid, pty !== undefined).finally(() => {
      // In a sandbox that is gone, nobody holds them.
      if (request.waitsForOutputs && sandbox.isAlive) streams?.closeInput()
      else streams?.finish(left && ((outputs) => void left.take(sandbox.id, outputs)))
      sandbox.underWay.delete(mark)
    })
    // The caller may ask for the end later.
    exited.catch(() => undefined)
    return {
      reference,
      ...{ stdin: streams?.stdin ?? null, stdout: streams?.stdout ?? null, stderr: streams?.stderr ?? null },
      exited,
      resize: pty ? createResize(transport, sandbox.id, pid, exited) : () => undefined,
    }
  } catch (error) {
    sandbox.underWay.delete(mark)
    streams?.destroy()
    // The program may have started, so end it.
    if (!(error instanceof ExecRefused))
      void endTree(transport, sandbox, {
        mark,
        ageMs: performance.now() - begin,
        kill: async () => undefined,
      })
    throw error
  }
}

/** Throws ExecRefused if no process was created. Returns if the program ended before its pid was known. */
const refuseUnstarted = async (started: StartedCommand, streams: ProcessStreams | null): Promise<void> => {
  if ((await started.ended) !== 'refused') return
  const output = streams?.stderr ?? streams?.stdout
  output?.endAfterContent()
  const reason = output ? (await text(output)).trim().slice(0, reasonLengthMax) : ''
  throw new ExecRefused(reason || 'the sandbox refused the program')
}

const waitForEnd = async (
  sandbox: Sandbox,
  started: StartedCommand,
  pid: number,
  isTerminal: boolean,
): Promise<ProcessEnd> => {
  const names: string[] = []
  if (pid > 0) sandbox.killedForMemory.set(pid, names)
  try {
    const code = await started.ended
    if (code === 'refused' || !sandbox.isAlive) throw new SandboxGone(`sandbox ${sandbox.id} is gone`)
    // The exit code can arrive before the confirmation of the signal that killed the program.
    if (sandbox.endingForMemory) await sandbox.endingForMemory
    // A pseudo-terminal's own process returns the code of a shell.
    const isCode = !isTerminal && started.wasSignalled?.() === false
    const end = isCode ? { exitCode: code, signal: null } : processEndOf(code)
    return { ...end, ...(names.length > 0 ? { killedForMemory: names } : {}) }
  } finally {
    if (sandbox.killedForMemory.get(pid) === names) sandbox.killedForMemory.delete(pid)
  }
}

/**
 * Resizes the terminal of the process `pid`. The program runs as root, which may open the terminal of any user. Errors
 * leave the terminal as it is.
 */
export async function resizeTerminal(
  transport: ExecTransport,
  sandboxId: string,
  pid: number,
  { cols, rows }: { cols: number; rows: number },
): Promise<void> {
  const size = [terminalSize(cols), terminalSize(rows)].map(String)
  const argv = ['/bin/bash', '-c', resizeProgram, 'resize', String(pid), ...size]
  await runPlatformProgram(transport, sandboxId, 'other', { argv, deadlineMs: resizeMs }).catch(
    () => undefined,
  )
}

/** Returns a function that resizes the terminal to the size that was wanted last. Errors leave the terminal as it is. */
const createResize = (
  transport: ExecTransport,
  sandboxId: string,
  pid: number,
  exited: Promise<unknown>,
): OpenProcess['resize'] => {
  let wanted: { cols: number; rows: number } | undefined
  let isResizing = false
  let isOver = false
  const over = (): void => {
    isOver = true
  }
  exited.then(over, over)
  const apply = async (): Promise<void> => {
    if (isResizing) return
    isResizing = true
    for (let next = wanted; next && !isOver; next = wanted) {
      wanted = undefined
      await resizeTerminal(transport, sandboxId, pid, next)
    }
    isResizing = false
  }
  return (cols, rows) => {
    wanted = { cols, rows }
    void apply()
  }
}
