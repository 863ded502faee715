/**
 * Keeps a separate transport per runsc program, so that the control socket is probed again after an upgrade of runsc.
 */
import type { ExecTransport } from './exec-transport.ts'

/** Maximum number of programs to remember. Beyond it the oldest is dropped, and would be probed again. */
const programsMax = 8

/** `programOf` identifies the program of a sandbox; `make` creates the transport for a program. */
export function createTransportPerProgram(
  programOf: (sandboxId: string) => string,
  make: () => ExecTransport,
): ExecTransport {
  const transports = new Map<string, ExecTransport>()
  let latest = make()
  const transportOf = (program: string): ExecTransport => {
    const known = transports.get(program)
    if (known) return known
    // The first program uses the transport whose name was reported so far.
    if (transports.size > 0) latest = make()
    transports.set(program, latest)
    if (transports.size > programsMax) transports.delete(transports.keys().next().value!)
    return latest
  }
  return {
    get name() {
      return latest.name
    },
    start: (sandboxId, command, streams) =>
      transportOf(programOf(sandboxId)).start(sandboxId, command, streams),
  }
}
