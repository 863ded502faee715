/**
 * An SSH server: all that Dock adds to ssh2, behind one face. No other program imports ssh2, and callers need not know it.
 * `patches/` holds what reaches into its private parts.
 */
export { type BufferBudget, type BufferShare, createBufferBudget } from './buffer-budget.ts'
export type { SshChannel } from './channel.ts'
export { type AcceptedClient, createSshServer, type SshServer } from './create-ssh-server.ts'
export type {
  ChannelOpened,
  ClientConnection,
  ClientHandlers,
  ForwardAddress,
  RequestedProgram,
  RequestHandlers,
  SessionHandlers,
  SignInResult,
  TcpAddress,
  TerminalSize,
} from './handlers.ts'
export { generateKeyPair, type KeyPairType, type SshKeyPair } from './keys/generate-key-pair.ts'
export { fingerprintOf, isUsualRsaKey, readPublicKey, rsaMax } from './keys/public-key.ts'
export { bytesOfString, SshReader } from './keys/ssh-reader.ts'
export { isNamedSignal } from './named-signals.ts'
