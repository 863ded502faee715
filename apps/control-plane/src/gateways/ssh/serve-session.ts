/** One session of a connection: collects variables and a terminal, then runs a shell, a command or the sftp server. */
import type { EventEmitter } from 'node:events'
import type { RejectConnection, ServerChannel, Session } from 'ssh2'
import { outputClosed } from './notice-closed-outputs.ts'
import { type ProgramRequest, runProgram } from './run-program.ts'
import { createVariables, terminalSize, terminalType } from './session-request.ts'
import type { SshConnection } from './ssh-connection.ts'

const sftpServer = '/usr/lib/openssh/sftp-server'

/** `onEnd` is called once, when the session has closed. */
export function serveSession(connection: SshConnection, session: Session, onEnd: () => void): void {
  const variables = createVariables()
  let pty: ProgramRequest['pty']
  let running: ReturnType<typeof runProgram> | undefined
  let hasEnded = false
  const end = (): void => {
    if (hasEnded) return
    hasEnded = true
    forget()
    running?.leave(connection.hasLostAccess() ? 'dock: You have lost access to this Dock.' : null)
    onEnd()
  }
  const forget = connection.onClosed(end)
  session.on('close', end)
  // ssh2 refuses every later request, also a signal, once the client has sent the end of its input.
  session.on('eof', () => Reflect.set(session, '_ending', false))

  // Not one of ssh2's events, so its types do not know it.
  const events: EventEmitter = session
  events.on(outputClosed, () => running?.closeOutput())

  session.on('env', (accept, reject, { key, val }) => {
    if (variables.set(key, val)) accept?.()
    else reject?.()
  })
  session.on('pty', (accept, _reject, wanted) => {
    pty = terminalSize(wanted)
    variables.set('TERM', terminalType(wanted.term))
    accept?.()
  })
  session.on('window-change', (accept, _reject, wanted) => {
    pty = terminalSize(wanted)
    running?.resize(pty)
    accept?.()
  })
  session.on('signal', (_accept, _reject, { name }) => running?.signal(name))
  let wantsAgent = false
  session.on('auth-agent', (accept) => {
    wantsAgent = true
    accept?.()
  })

  const start = (
    accept: () => ServerChannel,
    reject: RejectConnection,
    request: Pick<ProgramRequest, 'kind' | 'command' | 'argv'>,
  ): void => {
    if (running) return void reject?.()
    // Accepted before anything is known about the Dock, so that a refusal can be explained on stderr.
    running = runProgram(connection, accept(), {
      ...request,
      pty,
      variables: variables.values,
      wantsAgent,
    })
  }
  session.on('shell', (accept, reject) => start(accept, reject, { kind: 'shell' }))
  session.on('exec', (accept, reject, { command }) => start(accept, reject, { kind: 'exec', command }))
  session.on('subsystem', (accept, reject, { name }) => {
    if (name === 'sftp') start(accept, reject, { kind: 'sftp', argv: [sftpServer] })
    else reject?.()
  })
}
