/** A terminal of a Dock: a login shell of its user, which ends with its connection or its sandbox. */
import type { OpenTerminal, TerminalSize } from '@dock/host-protocol'
import { ExecRefused, type SandboxHandle, type Terminal, type TerminalRequest } from '@dock/runtime'
import { AgentRefusal } from '../docks/agent-refusal.ts'
import type { DockState, SandboxUse } from '../docks/dock-state.ts'
import { dockUser, environmentWith, startFolders } from '../docks/login-shell.ts'

/** Maximum number of terminals of one Dock that are open at the same time. */
export const terminalsMax = 4

export type DockTerminal = {
  terminal: Terminal
  /** Resolves with the shell's exit code, or with null if the Dock ended first. Never rejects. */
  ended: Promise<{ exitCode: number } | null>
}

/** Opens a terminal. Throws `busy` at {@link terminalsMax}, and `unsupported` if the runtime has no terminals. */
export async function openTerminal(
  dock: DockState,
  terminalId: string,
  request: OpenTerminal,
): Promise<DockTerminal> {
  const { terminals } = dock
  if (!dock.parts.driver.openTerminal) throw new AgentRefusal('unsupported', 'this runtime has no terminals')
  if (terminals.has(terminalId)) throw new AgentRefusal('busy', 'this terminal is already open')
  if (terminals.size >= terminalsMax)
    throw new AgentRefusal('busy', `${terminalsMax} terminals are open; close one first`)
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
      // If the sandbox ended, the exit code does not come from the shell.
      const stays = dock.live === sandbox && (await dock.parts.driver.recover(sandbox)) === 'running'
      return stays ? { exitCode } : null
    })
    return { terminal, ended: ended.catch(() => null) }
  } catch (error) {
    close()
    throw error
  }
}

/** Resizes an open terminal. Does nothing if the terminal has ended or is still being opened. */
export function resizeTerminal(dock: DockState, terminalId: string, { cols, rows }: TerminalSize): void {
  dock.terminals.get(terminalId)?.resize(cols, rows)
}

/** Opens the terminal in the work folder, or in the next folder if the user has removed it. */
const openInFirstFolder = async (
  dock: DockState,
  sandbox: SandboxHandle,
  { cols, rows }: OpenTerminal,
): Promise<Terminal> => {
  const { driver } = dock.parts
  let refusal: unknown
  for (const cwd of startFolders) {
    const request: TerminalRequest = {
      env: environmentWith({ TERM: 'xterm-256color', COLORTERM: 'truecolor' }),
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
