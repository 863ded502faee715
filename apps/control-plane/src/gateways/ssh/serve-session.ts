/** One session of a connection: collects variables and a terminal, then runs a shell, a command or the sftp server. */
import type { RequestedProgram, SessionHandlers, TerminalSize } from '@dock/ssh-server'
import { type ProgramRequest, type RunningProgram, runProgram } from './run-program.ts'
import { createVariables, terminalSize, terminalType } from './session-request.ts'
import type { SshConnection } from './ssh-connection.ts'

const sftpServer = '/usr/lib/openssh/sftp-server'

/** Returns what runs for a requested program, or null if there is no such subsystem. */
const programOf = (program: RequestedProgram): Pick<ProgramRequest, 'kind' | 'command' | 'argv'> | null => {
  switch (program.kind) {
    case 'subsystem':
      return program.name === 'sftp' ? { kind: 'sftp', argv: [sftpServer] } : null
    default:
      return program
  }
}

/** `onEnd` is called once, when the session or its connection has closed. */
export function serveSession(connection: SshConnection, onEnd: () => void): SessionHandlers {
  const variables = createVariables()
  let pty: TerminalSize | undefined
  let wantsAgent = false
  let running: RunningProgram | undefined
  let hasEnded = false
  const end = (): void => {
    if (hasEnded) return
    hasEnded = true
    forget()
    running?.leave(connection.hasLostAccess() ? 'dock: You have lost access to this Dock.' : null)
    onEnd()
  }
  const forget = connection.onClosed(end)
  return {
    setVariable: variables.set,
    setTerminal: (terminal) => {
      pty = terminalSize(terminal)
      variables.set('TERM', terminalType(terminal.type))
    },
    resize: (size) => {
      pty = terminalSize(size)
      running?.resize(pty)
    },
    signal: (name) => running?.signal(name),
    offerAgent: () => {
      wantsAgent = true
    },
    start: (requested, accept) => {
      const program = programOf(requested)
      if (running || !program) return false
      // Accepted before anything is known about the Dock, so that a refusal can be explained on stderr.
      running = runProgram(connection, accept(), { ...program, pty, variables: variables.values, wantsAgent })
      return true
    },
    onOutputClosed: () => running?.closeOutput(),
    onClosed: end,
  }
}
