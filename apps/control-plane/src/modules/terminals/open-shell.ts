/** Opens a terminal with a shell of its own: an attached process, so nothing typed or shown is kept on the host. */
import type { HostGateway } from '../hosts/index.ts'
import { exitCodeOf, type TerminalConnection } from './terminal-connection.ts'

/** The size of a terminal until its client sends another one. */
const initialSize = { cols: 80, rows: 24 }

/** Closing the terminal hangs up the shell. Throws `HostRefused` and `HostUnreachable`. */
export async function openShell(
  hosts: Pick<HostGateway, 'openProcess'>,
  { hostId, dockId, generation }: { hostId: string; dockId: string; generation: number },
): Promise<TerminalConnection> {
  const shell = await hosts.openProcess({ hostId, dockId }, { generation, pty: initialSize })
  // A terminal has one output. The other one is empty, but its end is waited for.
  shell.stderr.resume()
  return {
    input: shell.stdin,
    output: shell.stdout,
    exitCode: () => shell.exited.then(exitCodeOf),
    resize: shell.resize,
    close: shell.hangUp,
  }
}
