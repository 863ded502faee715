/** What the parts of one signed-in connection share. */
import type { ClientConnection } from '@dock/ssh-server'
import type { Entrance } from './find-entrance.ts'
import type { DockForwarder } from './forwarding/dock-forwarder.ts'
import type { SshContext } from './ssh-context.ts'

export type SshConnection = {
  context: SshContext
  entrance: Entrance
  client: ClientConnection
  /** The client's address and port, and the gateway's, as in the variable SSH_CONNECTION. */
  endpoints: string
  forwarder: DockForwarder
  /**
   * What begins to listen in the Dock (-R). A program that the client starts waits for these: its first act may be to
   * connect there.
   */
  beginningToListen: Set<Promise<void>>
  /** Returns the path of the socket in the Dock that leads to the client's agent, or null. */
  agentSocket(): Promise<string | null>
  /** Calls `end` when the connection has closed, or at once if it has. Returns a function that forgets `end`. */
  onClosed(end: () => void): () => void
  isClosed(): boolean
  /** True if access to the Dock has ended. */
  hasLostAccess(): boolean
}
