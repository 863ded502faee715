/** What a program that serves SSH clients gives to the server, and gets from it. */
import type { BufferBudget, BufferShare } from './buffer-budget.ts'
import type { SshChannel } from './channel.ts'

/** `accepted`, or refused with a line for the client, who may then offer its next key. */
export type SignInResult = 'accepted' | { remark: string | null }

/** What a client does until it has signed in. */
export type ClientHandlers = {
  /** Decides about a client that has signed with this key. An error goes to `onFault`, and ends the connection. */
  signIn(proof: { userName: string; publicKey: Buffer }): Promise<SignInResult>
  /** A key or a signature was refused before `signIn` was asked. */
  onKeyRefused(): void
  /** Called once, when the client has signed in, before anything else that it sends is processed. */
  onSignedIn(connection: ClientConnection): void
  /** The connection has failed and will end. */
  onError(error: Error): void
  /** A client that has signed in could not be served: a fault of this program. Its connection ends. */
  onFault(error: unknown): void
}

/** A connection that has signed in. */
export type ClientConnection = {
  /** Counts what waits in this process because of the connection, until it closes. Call it before {@link ClientConnection.serve}. */
  joinBudget(budget: BufferBudget, person: string): BufferShare
  /** Begins to take requests. Without it all are refused. */
  serve(handlers: RequestHandlers): void
  /** Opens a channel for a connection that arrived where the client wanted to listen. */
  openTcpChannel(listener: TcpAddress, peer: TcpAddress, opened: ChannelOpened): void
  openUnixChannel(path: string, opened: ChannelOpened): void
  /** Opens a channel to the client's SSH agent. */
  openAgentChannel(opened: ChannelOpened): void
  /** Sends what waits, and ends the connection. A client that does not read is cut off after two seconds. */
  end(): void
}

export type TcpAddress = { host: string; port: number }
export type ForwardAddress = TcpAddress | { path: string }
/** Gets null if the client refuses the channel, or has no more of them. */
export type ChannelOpened = (channel: SshChannel | null) => void

/** What a signed-in client may ask for. */
export type RequestHandlers = {
  /** Returns what to do with the requests of a new session, or null to refuse it. */
  openSession(): SessionHandlers | null
  /** The client wants to be connected (-L, -D). Exactly one of the offer's functions is to be called. */
  connect(address: ForwardAddress, offer: { accept(): SshChannel; reject(): void }): void
  /** The client wants to listen (-R). Resolves with the chosen port. An error refuses it. */
  listen(address: ForwardAddress): Promise<number | undefined>
  /** Returns false if the client did not listen there. */
  stopListening(address: ForwardAddress): boolean
  /** The client has left: it has closed at least its half of the connection. May be called twice. */
  onClosed(): void
}

export type TerminalSize = { cols: number; rows: number }
export type RequestedProgram =
  | { kind: 'shell' }
  | { kind: 'exec'; command: string }
  | { kind: 'subsystem'; name: string }

/** The requests of one session. */
export type SessionHandlers = {
  /** Returns false to refuse the variable. */
  setVariable(name: string, value: string): boolean
  /** The client wants its program to have a terminal. The numbers are the client's, unchecked. */
  setTerminal(terminal: TerminalSize & { type: string | undefined }): void
  resize(size: TerminalSize): void
  /** `name` as in SSH, without `SIG`. */
  signal(name: string): void
  /** The client lets the programs of the session use its SSH agent. */
  offerAgent(): void
  /** Returns false to refuse the program. Otherwise calls `accept` once, in this call. */
  start(program: RequestedProgram, accept: () => SshChannel): boolean
  /** The client no longer reads the program's output. */
  onOutputClosed(): void
  /** The client has closed the session. Not called if the connection closes first. */
  onClosed(): void
}
