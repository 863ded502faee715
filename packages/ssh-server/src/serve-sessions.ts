/** Passes the requests of sessions on to their handlers. */
import type { Connection, RejectConnection, ServerChannel, Session } from 'ssh2'
import type { SshChannel } from './channel.ts'
import type { RequestedProgram, SessionHandlers } from './handlers.ts'
import { onOutputClosed } from './patches/notice-closed-outputs.ts'
import { takeLateRequests } from './patches/take-late-requests.ts'

type Wrap = (channel: ServerChannel) => SshChannel

export function serveSessions(
  client: Connection,
  wrap: Wrap,
  openSession: () => SessionHandlers | null,
): void {
  client.on('session', (accept, reject) => {
    const handlers = openSession()
    if (handlers) serveSession(accept(), wrap, handlers)
    else reject()
  })
}

const serveSession = (session: Session, wrap: Wrap, handlers: SessionHandlers): void => {
  takeLateRequests(session)
  onOutputClosed(session, handlers.onOutputClosed)
  session.on('close', handlers.onClosed)
  session.on('env', (accept, reject, { key, val }) => {
    if (handlers.setVariable(key, val)) accept?.()
    else reject?.()
  })
  session.on('pty', (accept, _reject, { cols, rows, term }) => {
    handlers.setTerminal({ cols, rows, type: term })
    accept?.()
  })
  session.on('window-change', (accept, _reject, { cols, rows }) => {
    handlers.resize({ cols, rows })
    accept?.()
  })
  session.on('signal', (_accept, _reject, { name }) => handlers.signal(name))
  session.on('auth-agent', (accept) => {
    handlers.offerAgent()
    accept?.()
  })

  const start = (accept: () => ServerChannel, reject: RejectConnection, program: RequestedProgram): void => {
    if (!handlers.start(program, () => wrap(accept()))) reject?.()
  }
  session.on('shell', (accept, reject) => start(accept, reject, { kind: 'shell' }))
  session.on('exec', (accept, reject, { command }) => start(accept, reject, { kind: 'exec', command }))
  session.on('subsystem', (accept, reject, { name }) => start(accept, reject, { kind: 'subsystem', name }))
}
