/** One terminal of a Dock: a login shell of its user, counted, and gone with its connection or its sandbox. */
import type { OpenTerminal, TerminalSize } from '@dock/host-protocol'
import { ExecRefused, type SandboxHandle, type Terminal, type TerminalRequest } from '@dock/runtime'
import { AgentRefusal } from '../docks/agent-refusal.ts'
import type { DockState, SandboxUse } from '../docks/dock-state.ts'
import { dockUser, userEnvironment } from '../docks/login-shell.ts'

/** Terminals of one Dock that may be open at once. */
export const terminalsMax = 4

const folders = ['/home/user/work', dockUser.home, '/']

export type DockTerminal = {
  terminal: Terminal
  /** How the shell ended, or null when the Dock ended under it. Resolves once, whatever happens. */
  ended: Promise<{ exitCode: number } | null>
}

/** Opens one. Throws `busy` at {@link terminalsMax}, `unsupported` where the runtime has no terminals. */
export async function openTerminal(
  dock: DockState,
  terminalId: string,
  request: OpenTerminal,
): Promise<DockTerminal> {
  const { terminals } = dock
  if (!dock.parts.driver.openTerminal) throw new AgentRefusal('unsupported', 'no terminals with this runtime')
  if (terminals.has(terminalId)) throw new AgentRefusal('busy', 'the terminal is open already')
  if (terminals.size >= terminalsMax) throw new AgentRefusal('busy', `${terminalsMax} terminals are open`)
  terminals.set(terminalId, null)
  let use: SandboxUse | undefined
  const close = (): void => {
    terminals.delete(terminalId)
    use?.release()
  }
  try {
    use = await dock.use(request.generation)
    const { sandbox } = use
    const terminal = await openInFirstFolder(dock, sandbox, request)
    terminals.set(terminalId, terminal)
    const ended = terminal.exited.then(async ({ exitCode }) => {
      close()
      // A shell that went with its sandbox has an exit code too, but none of its own.
      const stays = dock.live === sandbox && (await dock.parts.driver.recover(sandbox)) === 'running'
      return stays ? { exitCode } : null
    })
    return { terminal, ended: ended.catch(() => null) }
  } catch (error) {
    close()
    throw error
  }
}

/** Gives an open one another size; one that is over, or not open yet, has none to change. */
export function resizeTerminal(dock: DockState, terminalId: string, { cols, rows }: TerminalSize): void {
  dock.terminals.get(terminalId)?.resize(cols, rows)
}

/** The folder of commands, unless its owner has removed it. */
const openInFirstFolder = async (
  dock: DockState,
  sandbox: SandboxHandle,
  { cols, rows }: OpenTerminal,
): Promise<Terminal> => {
  const { driver } = dock.parts
  let refusal: unknown
  for (const cwd of folders) {
    const request: TerminalRequest = {
      env: { ...userEnvironment, TERM: 'xterm-256color', COLORTERM: 'truecolor', LC_CTYPE: 'C.UTF-8' },
      ...{ cwd, cols, rows, uid: dockUser.uid, gid: dockUser.gid },
    }
    try {
      return await driver.openTerminal!(sandbox, request)
    } catch (error) {
      if (!(error instanceof ExecRefused)) throw error
      refusal = error
    }
  }
  throw refusal
}
