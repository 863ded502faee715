import { Dock } from '@dock/sdk'
import { findDock } from '../docks/find-dock.ts'
import { readVariables, secondsOf, variableFlag } from '../docks/sizes.ts'
import type { Command } from '../program/command.ts'
import { exitCodes } from '../program/exit-codes.ts'
import { UsageError } from '../program/failures.ts'
import type { Input } from '../program/input.ts'
import { explainStopped } from '../remote/explain-stopped.ts'
import { runRemote, type Sinks } from '../remote/run-remote.ts'
import { shellLine } from '../remote/shell-line.ts'
import { openTerminal, terminalSize } from '../remote/terminal.ts'
import { dockArgument } from './docks.ts'

const collectedBytesMax = 16 * 1024 * 1024

/** Keeps the beginning of both outputs for the result with --json. */
const collector = () => {
  const kept = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  const bytes = { stdout: 0, stderr: 0 }
  let isTruncated = false
  const sinkOf = (name: 'stdout' | 'stderr') => ({
    write: (chunk: string | Uint8Array) => {
      const room = collectedBytesMax - bytes[name]
      const part = Buffer.from(chunk as Uint8Array).subarray(0, room)
      isTruncated ||= part.length < chunk.length
      bytes[name] += part.length
      kept[name].push(part)
      return true
    },
  })
  const sinks: Sinks = { stdout: sinkOf('stdout'), stderr: sinkOf('stderr') }
  const texts = () => ({
    stdout: Buffer.concat(kept.stdout).toString(),
    stderr: Buffer.concat(kept.stderr).toString(),
    truncated: isTruncated,
  })
  return { sinks, texts }
}

const optionsOf = (input: Input, env: Readonly<Record<string, string | undefined>>) => {
  const [cwd, timeout] = [input.text('cwd'), input.text('timeout')]
  return {
    ...(input.list('env').length > 0 ? { env: readVariables(input, env) } : {}),
    ...(cwd === undefined ? {} : { cwd: cwd.startsWith('/') ? cwd : `/home/user/work/${cwd}` }),
    ...(timeout === undefined ? {} : { timeoutSeconds: secondsOf('timeout', timeout) }),
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
    const isTerminal = input.has('tty')
    const pty = isTerminal ? terminalSize() : undefined
    const info = await findDock(context, input.optional('DOCK'))
    const client = await context.client()
    const dock = new Dock(client, info)
    const command = shellLine(input.rest)
    const options = optionsOf(input, context.env)
    return explainStopped(client, info, async () => {
      if (input.has('detach') || pty) {
        const process = await dock.spawn(command, { ...options, ...(pty ? { pty, stdin: true } : {}) })
        if (pty) return openTerminal(client, dock.id, process.id)
        context.out.result({ dockId: dock.id, processId: process.id }, () => context.out.line(process.id))
        return exitCodes.ok
      }
      const remote = { ...options, isInput: !input.has('no-stdin') }
      const clientWith = (send: typeof fetch) => context.clientWith(send)
      if (!context.out.isJson) return runRemote(clientWith, info, command, remote, context.out)
      const { sinks, texts } = collector()
      const exitCode = await runRemote(clientWith, info, command, remote, sinks)
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
    const info = await findDock(context, input.optional('DOCK'))
    const client = await context.client()
    if (info.state === 'archived')
      await context.out.wait(`Resuming ${info.name ?? info.id}`, new Dock(client, info).resume())
    return explainStopped(client, info, () => openTerminal(client, info.id))
  },
}
