/** Reports to the client how a program ended, as `exit-status` or `exit-signal`. */
import type { ServerChannel } from 'ssh2'

/** The signals that SSH can name (RFC 4254, section 6.10). */
const namedSignals = [
  ...(['ABRT', 'ALRM', 'FPE', 'HUP', 'ILL', 'INT', 'KILL', 'PIPE', 'QUIT', 'SEGV', 'TERM'] as const),
  ...(['USR1', 'USR2'] as const),
]
export type NamedSignal = (typeof namedSignals)[number]
/** What a shell adds to the number of a signal. Stands for signals that SSH cannot name. */
const otherSignalExitCode = 128
/** OpenSSH itself exits with this code if a connection breaks. */
const lostExitCode = 255

/** True if SSH can name the signal, which is given without `SIG`. */
export function isNamedSignal(name: string): name is NamedSignal {
  return namedSignals.some((known) => known === name)
}

/** Sends the end of a program. A null exit code without a signal means that nobody knows how it ended. */
export function sendExit(
  channel: ServerChannel,
  end: { exitCode: number | null; signal: string | null },
): void {
  const { exitCode, signal } = end
  if (signal !== null && isNamedSignal(signal)) channel.exit(signal, false, '')
  else channel.exit(signal === null ? (exitCode ?? lostExitCode) : otherSignalExitCode)
}
