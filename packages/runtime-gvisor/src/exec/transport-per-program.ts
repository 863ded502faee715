/**
 * Keeps a separate transport per runsc program, so that the control socket is probed again after an upgrade of runsc.
 */
import type { Runsc } from '../runsc/runsc.ts'
import type { ChosenTransport } from './choose-transport.ts'
import type { ExecTransport } from './exec-transport.ts'

/** Maximum number of programs to remember. Beyond it the oldest is dropped, and would be probed again. */
const programsMax = 8

/** A runsc with the identity of its program. */
export type Program = { identity: string; runsc: Runsc }

export type TransportPerProgram = ExecTransport & {
  /** Runs the probe of a program, before a command needs it. Never rejects. */
  prepare(program: Program): Promise<void>
}

/** `programOf` returns the program of a sandbox; `make` creates the transport for a program. */
export function createTransportPerProgram(
  programOf: (sandboxId: string) => Program,
  make: (runsc: Runsc) => ChosenTransport,
): TransportPerProgram {
  const transports = new Map<string, ChosenTransport>()
  let latest: ChosenTransport | undefined
  const transportOf = ({ identity, runsc }: Program): ChosenTransport => {
    const known = transports.get(identity)
    if (known) return known
    latest = make(runsc)
    transports.set(identity, latest)
    if (transports.size > programsMax) transports.delete(transports.keys().next().value!)
    return latest
  }
  return {
    get name() {
      return latest?.name ?? 'unknown'
    },
    prepare: async (program) => void (await transportOf(program).choose()),
    start: (sandboxId, command, streams) =>
      transportOf(programOf(sandboxId)).start(sandboxId, command, streams),
  }
}
