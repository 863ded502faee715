/** A new runsc must prove its control socket anew: each program that sandboxes run on has a transport of its own. */
import type { ExecTransport } from './exec-transport.ts'

/** Programs that sandboxes of one machine run on at once; the oldest is forgotten and would prove itself again. */
const programsMax = 8

/** `programOf` tells sandboxes of different programs apart; `make` makes the transport of one. */
export function transportEachProgram(
  programOf: (sandboxId: string) => string,
  make: () => ExecTransport,
): ExecTransport {
  const transports = new Map<string, ExecTransport>()
  let latest = make()
  const transportOf = (program: string): ExecTransport => {
    const known = transports.get(program)
    if (known) return known
    // The first program takes the one that has given its name so far.
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
