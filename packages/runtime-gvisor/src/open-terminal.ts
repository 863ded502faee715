/**
 * A login shell on a pseudo-terminal. `script` creates the terminal inside the sandbox and connects it to plain pipes.
 * The host then needs neither a terminal nor a process for it, and the shell has a real /dev/pts (decision 019).
 */
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock, waitAtMost } from '@dock/foundation'
import { ExecRefused, type Terminal, type TerminalRequest } from '@dock/runtime'
import type { Command, ExecTransport, StartedCommand } from './exec-transport.ts'
import { InputPipe } from './input-pipe.ts'
import { runToEnd } from './run-to-end.ts'
import { TerminalOutput } from './terminal-output.ts'

const openMs = 20_000
const hangUpMs = 3000
const controlMs = 10_000
const largestSize = 9999

/** Sets the size, prints the shell's pid as the first line of output, then becomes the login shell. */
const shell = ({ cols, rows }: { cols: number; rows: number }): string =>
  `stty cols ${size(cols)} rows ${size(rows)}; echo $$; exec /bin/bash -l`

/** gVisor sends no SIGWINCH after a resize, so the command signals every process of the terminal's session. */
const resize =
  '/usr/bin/stty -F "/proc/$1/fd/0" cols "$2" rows "$3" && exec /usr/bin/pkill -WINCH --session "$1"'

const size = (wanted: number): number => Math.min(largestSize, Math.max(1, Math.trunc(wanted) || 1))

/** Opens a terminal. Throws ExecRefused if a program that it needs is missing in the sandbox. */
export async function openTerminal(
  transport: ExecTransport,
  sandboxId: string,
  request: TerminalRequest,
): Promise<Terminal> {
  const { env, cwd, uid, gid } = request
  const commandOf = (argv: string[]): Command => ({ argv, env, cwd, uid, gid, alsoBounding: [] })
  const started = await start(transport, sandboxId, commandOf(scriptOf(request)))
  const { input, output, command } = started
  const ended = command.ended.then(
    (code) => (code === 'refused' ? 127 : code),
    () => 129,
  )
  const shellPid = await pidOf(started)

  /** Runs a helper program next to the shell. Errors are ignored: the terminal then stays as it is. */
  const beside = async (...argv: string[]): Promise<void> => {
    const abandoned = delay(controlMs, undefined, { ref: false })
    const program = { ...commandOf(argv), cwd: '/' }
    await runToEnd(transport, sandboxId, program, { outputLimitBytes: 0 }, abandoned).catch(() => undefined)
  }

  let wantedSize: { cols: number; rows: number } | undefined
  let resizing = false
  const applySize = async (): Promise<void> => {
    if (resizing) return
    resizing = true
    for (let next = wantedSize; next; next = wantedSize) {
      wantedSize = undefined
      const { cols, rows } = next
      await beside('/bin/sh', '-c', resize, 'resize', shellPid, `${size(cols)}`, `${size(rows)}`)
    }
    resizing = false
  }

  let hungUp = false
  const hangUp = async (): Promise<void> => {
    await beside('/bin/kill', '-HUP', shellPid)
    await waitAtMost(systemClock, hangUpMs, ended)
    await command.kill().catch(() => undefined)
    command.release()
    output.destroy()
  }

  return {
    write: (data, taken) => input.write(data, taken),
    resize: (cols, rows) => {
      wantedSize = { cols, rows }
      void applySize()
    },
    onData: (listener) => output.listen(listener),
    pause: () => output.pause(),
    resume: () => output.resume(),
    exited: ended.then(async (exitCode) => {
      input.destroy()
      await output.closed
      return { exitCode }
    }),
    kill: () => {
      output.resume()
      if (!hungUp) void hangUp()
      hungUp = true
    },
  }
}

type Started = { input: InputPipe; output: TerminalOutput; command: StartedCommand }

const scriptOf = (request: TerminalRequest): string[] => [
  '/usr/bin/script',
  ...['--quiet', '--flush', '--return', '--echo', 'always'],
  ...['--command', shell(request), '/dev/null'],
]

const start = async (transport: ExecTransport, sandboxId: string, wanted: Command): Promise<Started> => {
  const input = new InputPipe()
  let output: TerminalOutput | undefined
  try {
    output = new TerminalOutput()
    const streams = [input.readFd, output.writeFd, output.writeFd] as const
    const command = await transport.start(sandboxId, wanted, streams)
    input.closeReader()
    output.closeWriter()
    return { input, output, command }
  } catch (error) {
    input.destroy()
    output?.destroy()
    throw error
  }
}

/** Waits until the shell prints its pid, which means that it runs on its terminal. */
const pidOf = async ({ input, output, command }: Started): Promise<string> => {
  const header = await waitAtMost(systemClock, openMs, output.header)
  if (header !== undefined && /^\d+$/.test(header)) return header
  input.destroy()
  output.destroy()
  await command.kill().catch(() => undefined)
  command.release()
  throw new ExecRefused(`the terminal could not be opened${header ? `: ${header}` : ''}`)
}
