/** Runs the program of one session in the Dock and joins its streams to the channel. */
import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { limits, ServiceError } from '@dock/contract'
import { throttleLargeStream } from '@dock/foundation'
import { isNamedSignal, type SshChannel, type TerminalSize } from '@dock/ssh-server'
import { type DockRow, openDockProcess } from '../../modules/docks/index.ts'
import type { RemoteProcess } from '../../modules/hosts/index.ts'
import { withClientLocale } from './client-locale.ts'
import { requireReadyDock, resumeForShell } from './ready-dock.ts'
import { explainRefusal, refusedExitCode, SessionRefused } from './refusal.ts'
import type { SshConnection } from './ssh-connection.ts'

export type ProgramRequest = {
  kind: 'shell' | 'exec' | 'sftp'
  /** For a login shell. Without it and without `argv`, the login shell itself runs. */
  command?: string
  argv?: [string, ...string[]]
  pty: TerminalSize | undefined
  variables: Record<string, string>
  /** True if the client forwards its SSH agent. */
  wantsAgent: boolean
}

export type RunningProgram = {
  resize(size: TerminalSize): void
  /** `name` as in SSH, without `SIG`. */
  signal(name: string): void
  /** Closes the program's standard output: the client no longer reads it. */
  closeOutput(): void
  /** Hangs up. `lastLine` is for a client that is still there. */
  leave(lastLine: string | null): void
}

/** Where programs start, as with other SSH servers: relative paths of scp, rsync and git begin there. */
const home = '/home/user'
/** Signals that may be under way to the host. A client can send them much faster than a host takes them. */
const signalsMax = 8

export function runProgram(
  connection: SshConnection,
  channel: SshChannel,
  request: ProgramRequest,
): RunningProgram {
  const { context } = connection
  let program: RemoteProcess | undefined
  let hasLeft = false
  let hasClosedOutput = false
  let size = request.pty
  let isResizing = false
  let signals = 0
  const lineEnd = request.pty ? '\r\n' : '\n'
  context.metrics.session(request.kind)

  const start = async (): Promise<void> => {
    requireShort(request.command)
    await context.docks.rateLimits.take('sshSessions', connection.entrance.caller.userId)
    const dock = await findDock(connection, request, channel, () => hasLeft)
    const environment = await environmentOf(connection, request)
    await Promise.all(connection.beginningToListen)
    const { variables, argv = withClientLocale(variables, request.command) } = request
    const command = argv ? undefined : request.command
    const firstSize = size
    program = await openDockProcess(context.docks, dock, {
      ...(command === undefined ? {} : { command }),
      ...(argv === undefined ? {} : { argv }),
      ...(size === undefined ? {} : { pty: size }),
      env: environment,
      cwd: home,
      // As OpenSSH's server: a terminal ends with its program, pipes with the last process that holds them.
      waitsForOutputs: size === undefined,
    })
    if (hasLeft) return program.hangUp()
    // The client may have resized its terminal while the program was being started.
    if (size !== firstSize) void passSizes()
    if (hasClosedOutput) program.closeStdout()
    await join(connection, channel, program)
  }

  /** Passes the latest size on, one at a time. */
  const passSizes = async (): Promise<void> => {
    if (isResizing || !program) return
    isResizing = true
    for (let passed: TerminalSize | undefined; size && size !== passed && !hasLeft; ) {
      passed = size
      await program.resize(size).catch(() => undefined)
    }
    isResizing = false
  }

  start().catch((error: unknown) => {
    if (hasLeft) return
    const line = isMissingSftpServer(error, request) ? missingSftpServer : explainRefusal(error)
    if (line === null) context.logger.error({ err: error }, 'an SSH session failed')
    channel.stderr.write(`${line ?? 'dock: The session failed. Try again.'}${lineEnd}`, () =>
      channel.exit({ exitCode: refusedExitCode, signal: null }),
    )
  })
  return {
    resize: (wanted) => {
      size = wanted
      void passSizes()
    },
    signal: (name) => {
      if (!program || !isNamedSignal(name) || signals >= signalsMax) return
      signals += 1
      const done = (): void => {
        signals -= 1
      }
      program.signal(name).then(done, done)
    },
    closeOutput: () => {
      hasClosedOutput = true
      program?.closeStdout()
    },
    leave: (lastLine) => {
      hasLeft = true
      if (lastLine !== null) {
        channel.say(`${lastLine}${lineEnd}`)
        channel.exit({ exitCode: null, signal: null })
      }
      channel.discard()
      program?.hangUp()
    },
  }
}

const { commandBytesMax } = limits.exec

/** Throws SessionRefused if the command is longer than one of the API may be. */
const requireShort = (command: string | undefined): void => {
  if (command === undefined || Buffer.byteLength(command) <= commandBytesMax) return
  throw new SessionRefused(
    `A command has at most ${commandBytesMax} bytes. Send a longer script as input: ssh … bash -s <script`,
  )
}

const missingSftpServer =
  'dock: This Dock has no sftp server. Install it there: sudo apt-get install openssh-sftp-server'

const isMissingSftpServer = (error: unknown, { kind }: ProgramRequest): boolean =>
  kind === 'sftp' && error instanceof ServiceError && error.code === 'validation_error'

const findDock = (
  { context, entrance }: SshConnection,
  { kind, pty }: ProgramRequest,
  channel: SshChannel,
  hasLeft: () => boolean,
): Promise<DockRow> =>
  kind === 'shell' && pty
    ? resumeForShell(context, entrance, (line) => channel.stderr.write(`${line}\r\n`), hasLeft)
    : requireReadyDock(context, entrance)

const environmentOf = async (
  { endpoints, agentSocket }: SshConnection,
  { variables, wantsAgent }: ProgramRequest,
): Promise<Record<string, string>> => {
  // A session in which forwarding fails works without it, as with other servers.
  const socket = wantsAgent ? await agentSocket() : null
  return {
    ...variables,
    SSH_CONNECTION: endpoints,
    ...(socket === null ? {} : { SSH_AUTH_SOCK: socket }),
  }
}

/** Resolves when the client has all output of the program and knows how it ended. */
const join = async (
  { context }: SshConnection,
  channel: SshChannel,
  program: RemoteProcess,
): Promise<void> => {
  const { stdin, stdout, stderr } = program
  // A program may end without reading its input. What the client sends afterwards is discarded.
  stdin.on('error', () => channel.input.resume())
  throttleLargeStream(channel.input, stdin, context.precedence)
  channel.input.pipe(stdin)
  stdout.pipe(channel.stdout, { end: false })
  stderr.pipe(channel.stderr, { end: false })
  try {
    const [end] = await Promise.all([program.exited, isOver(stdout), finished(stderr)])
    await Promise.all([endOutput(channel.stdout), endOutput(channel.stderr)])
    channel.exit(end)
  } catch (error) {
    context.logger.debug({ err: error }, 'an SSH session lost its program')
    channel.stderr.write('dock: The connection to the program broke.\n')
    await Promise.all([endOutput(channel.stdout), endOutput(channel.stderr)])
    channel.exit({ exitCode: null, signal: null })
  }
}

/** Resolves when the output has ended, or was closed. A connection that broke is reported by the program's end. */
const isOver = (output: Readable): Promise<void> => finished(output).catch(() => undefined)

/** Resolves when everything that was written has been sent. */
const endOutput = (output: Writable): Promise<void> =>
  new Promise((resolve) => {
    output.end(resolve)
  })
