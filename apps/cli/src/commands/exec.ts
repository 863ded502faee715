import { openDock } from '../docks/find-dock.ts'
import { ranges, readVariables, secondsOf, variableFlag } from '../docks/sizes.ts'
import type { Command } from '../program/command.ts'
import { exitCodes } from '../program/exit-codes.ts'
import { UsageError } from '../program/failures.ts'
import type { Input } from '../program/input.ts'
import { collectOutput } from '../remote/collect-output.ts'
import { explainStopped } from '../remote/explain-stopped.ts'
import { withHangUp } from '../remote/hang-up.ts'
import { runRemote } from '../remote/run-remote.ts'
import { shellLine } from '../remote/shell-line.ts'
import { openTerminal, terminalSize } from '../remote/terminal.ts'
import { dockArgument } from './docks.ts'

const optionsOf = (input: Input, env: Readonly<Record<string, string | undefined>>) => {
  const [cwd, timeout] = [input.text('cwd'), input.text('timeout')]
  return {
    ...(input.list('env').length > 0 ? { env: readVariables(input, env) } : {}),
    ...(cwd === undefined ? {} : { cwd: cwd.startsWith('/') ? cwd : `/home/user/work/${cwd}` }),
    ...(timeout === undefined
      ? {}
      : { timeoutSeconds: secondsOf('timeout', timeout, ranges.timeoutSeconds) }),
  }
}

/** Runs a command in a Dock. */
export const exec: Command = {
  path: ['exec'],
  summary: 'Run a command in a Dock; its exit code is the exit code',
  details:
    'One word is a line of shell: dock exec web "ls | wc -l". Several words are passed on as they are.\nStandard input is sent along, also a pipe of any length. Ctrl-C interrupts the command in the Dock.\nWithout DOCK, write dock exec -- COMMAND in a folder with a .dock file.',
  args: [dockArgument],
  takesCommand: true,
  isAroundCommand: true,
  flags: [
    { name: 'tty', short: 't', about: 'run it on a terminal' },
    { name: 'no-stdin', short: 'n', about: 'send no input: for loops that read lines themselves' },
    { name: 'detach', short: 'd', about: 'print the id of the process and return; read it with dock logs' },
    { name: 'cwd', short: 'w', value: 'FOLDER', about: 'where it runs; relative to /home/user/work' },
    { name: 'timeout', value: 'TIME', about: 'end it after this time, for example 30s or 2h' },
    variableFlag,
  ],
  examples: [
    'dock exec web -- npm test',
    'tar -c . | dock exec web -- tar -x',
    'dock exec -d web "npm start"',
  ],
  async run(context, input) {
    if (input.rest.length === 0)
      throw new UsageError('The command is missing. Write: dock exec DOCK -- COMMAND')
    const options = optionsOf(input, context.env)
    const isTerminal = input.has('tty')
    const pty = isTerminal ? terminalSize() : undefined
    const dock = await openDock(context, input.optional('DOCK'))
    const command = shellLine(input.rest)
    return explainStopped(dock, async () => {
      if (pty)
        return withHangUp(
          () => dock.spawn(command, { ...options, pty, stdin: true }),
          (process) => openTerminal(dock.client, dock.id, process.id),
        )
      if (input.has('detach')) {
        // Nobody reads the output of a detached process now.
        const process = await dock.spawn(command, { ...options, holdOutput: false })
        context.out.result({ dockId: dock.id, processId: process.id }, () => context.out.line(process.id))
        return exitCodes.ok
      }
      const remote = { ...options, isInput: !input.has('no-stdin') }
      if (!context.out.isJson) return runRemote(dock, command, remote, context.out)
      const { sinks, texts } = collectOutput()
      const exitCode = await runRemote(dock, command, remote, sinks)
      context.out.result({ exitCode, ...texts() }, () => undefined)
      return exitCode
    })
  },
}

/** Opens a shell in a Dock. */
export const shell: Command = {
  path: ['shell'],
  summary: 'Open a shell in a Dock; a stopped Dock is resumed',
  args: [dockArgument],
  isAroundCommand: true,
  async run(context, input) {
    terminalSize()
    const dock = await openDock(context, input.optional('DOCK'))
    if (dock.info.state === 'archived')
      await context.out.wait(`Resuming ${dock.name ?? dock.id}`, dock.resume())
    return explainStopped(dock, () => openTerminal(dock.client, dock.id))
  },
}
