/** A terminal under tmux in which a person types. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Cli } from '../../e2e/support/run-cli.ts'

const run = promisify(execFile)

export type Terminal = {
  type(text: string): Promise<unknown>
  /** Presses a key by tmux's name for it, such as `Enter` or `C-c`. */
  key(name: string): Promise<unknown>
  /** Types a line and presses Enter. */
  line(text: string): Promise<void>
  /** Returns the screen once it matches, or as it is after a minute. */
  until(wanted: RegExp): Promise<string>
  close(): Promise<unknown>
}

/** Opens a terminal of 150 columns with this program, in the working folder of `cli`. */
export async function openTerminal(cli: Cli, name: string, words: readonly string[]): Promise<Terminal> {
  const socket = join(cli.folder, `tmux-${name}`)
  const env = { ...cli.env, TERM: 'xterm' }
  const tmux = async (...args: string[]): Promise<string> =>
    (await run('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env })).stdout
  const size = ['-x', '150', '-y', '30']
  await tmux('new-session', '-d', ...size, '-c', join(cli.folder, 'work'), ...words)
  const terminal: Terminal = {
    type: (text) => tmux('send-keys', '-l', text),
    key: (each) => tmux('send-keys', each),
    line: async (text) => {
      await terminal.type(text)
      await terminal.key('Enter')
    },
    until: async (wanted) => {
      for (let attempt = 0; ; attempt++) {
        const screen = await tmux('capture-pane', '-p', '-J')
        if (wanted.test(screen) || attempt > 600) return screen
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    },
    close: () => tmux('kill-server').catch(() => undefined),
  }
  return terminal
}
