/** The signals that SSH can name (RFC 4254, section 6.10), without `SIG`. */
const namedSignals = [
  'ABRT',
  'ALRM',
  'FPE',
  'HUP',
  'ILL',
  'INT',
  'KILL',
  'PIPE',
  'QUIT',
  'SEGV',
  'TERM',
  'USR1',
  'USR2',
] as const
export type NamedSignal = (typeof namedSignals)[number]

/** True if SSH can name the signal, which is given without `SIG`. */
export function isNamedSignal(name: string): name is NamedSignal {
  return namedSignals.some((known) => known === name)
}
