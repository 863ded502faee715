/** A person in a terminal: ssh in a pane of tmux, with vim, less, colours, Unicode, resizes, and a lost connection. */
import { openScreen } from '../../e2e/support/terminal.ts'
import { eventually, must, type Setting } from './setting.ts'

type Pane = {
  type(...keys: string[]): Promise<void>
  shows(wanted: string | RegExp): Promise<string>
  resize(cols: number, rows: number): Promise<void>
  loseConnection(): Promise<void>
  isDead(): Promise<boolean>
  end(): Promise<void>
}

const openPane = async (setting: Setting, command: string): Promise<Pane> => {
  const base = ['-u', '-S', `${setting.folder}/tmux`, '-f', '/dev/null']
  const tmux = (...args: string[]): Promise<string> => setting.run('tmux', [...base, ...args])
  await tmux(
    ...['new-session', '-d', '-s', 'proof', '-x', '100', '-y', '30'],
    ...['-e', 'LANG=C.UTF-8', `exec ssh ${setting.options.join(' ')} -t ${setting.host} ${command}`],
    ...[';', 'set', 'remain-on-exit', 'on'],
  )
  const screen = (): Promise<string> => tmux('capture-pane', '-p', '-e', '-t', 'proof')
  return {
    type: async (...keys) => void (await tmux('send-keys', '-t', 'proof', ...keys)),
    shows: async (wanted) => {
      let seen = ''
      return eventually(`the screen shows ${wanted}`, async () => {
        seen = await screen()
        const found = typeof wanted === 'string' ? seen.includes(wanted) : wanted.test(seen)
        if (!found) throw new Error(seen)
        return seen
      })
    },
    resize: async (cols, rows) =>
      void (await tmux('resize-window', '-t', 'proof', '-x', String(cols), '-y', String(rows))),
    loseConnection: async () => {
      const pid = Number((await tmux('display', '-p', '-t', 'proof', '#{pane_pid}')).trim())
      process.kill(pid, 'SIGKILL')
    },
    isDead: async () => (await tmux('display', '-p', '-t', 'proof', '#{pane_dead}')).trim() === '1',
    end: async () => void (await tmux('kill-server')),
  }
}

/** Proves it, and returns what the line of the proof says. */
export async function proveInteractive(setting: Setting): Promise<string> {
  const { look, server, dock } = setting
  await look('seq -f "line %g of the long file" 500 >/home/user/long; mkdir -p /home/user/work')
  const pane = await openPane(setting, '')
  try {
    await pane.type('clear; stty size; tput colors; locale charmap', 'Enter')
    await pane.shows(/^30 100$/m)
    await pane.shows(/^(256|8|16)$/m)
    await pane.type("printf '\\033[38;2;255;100;7mcolour\\033[0m zażółć 漢字 🦊\\n'", 'Enter')
    const coloured = await pane.shows(/\d+;7mcolour/)
    must(/zażółć 漢字 🦊/.test(coloured), `Unicode is broken:\n${coloured}`)

    await pane.type('less long', 'Enter')
    await pane.shows('line 29 of the long file')
    await pane.type('G')
    await pane.shows('line 500 of the long file')
    await pane.resize(120, 40)
    await pane.type('g')
    await pane.shows('line 39 of the long file')
    await pane.type('q')
    await pane.type('clear; stty size', 'Enter')
    await pane.shows(/^40 120$/m)

    await pane.type('vim -u NONE note || vi note', 'Enter')
    await pane.shows(/~/)
    await pane.type('i', 'written in vim: żółć 漢')
    await pane.type('Escape')
    await pane.resize(90, 25)
    await pane.type(':wq', 'Enter')
    await eventually(
      'the file that vim wrote',
      async () => (await look('cat /home/user/note')).includes('written in vim: żółć 漢') || undefined,
    )
    await pane.type('C-l')
    await pane.type('sleep 4141', 'Enter')
    await eventually('the program to interrupt', async () => look('pgrep -f "sleep 4[1]41"'))
    await pane.type('C-c')
    await pane.type('echo "code $?"', 'Enter')
    await pane.shows('code 130')

    await pane.type('sleep 5151', 'Enter')
    await eventually('the program of the session', async () => look('pgrep -f "sleep 5[1]51"'))
    await pane.loseConnection()
    await eventually('the end of the pane', async () => (await pane.isDead()) || undefined)
    await eventually('the hang-up of what the session ran', async () =>
      (await look('pgrep -f "sleep 5[1]51" || echo none')) === 'none\n' ? true : undefined,
    )
  } finally {
    await pane.end()
  }
  await reattach(setting, server, dock.id)
  return 'less, vim, 256 colours, Unicode, resizes and Ctrl-C as in a local terminal; a lost connection hangs up, and a kept terminal is attached again with its screen'
}

/** A kept process with a terminal: its WebSocket is lost, and the next one shows the same screen and shell. */
const reattach = async (setting: Setting, server: Setting['server'], id: string): Promise<void> => {
  const { id: processId } = await server.client.call('startDockProcess', {
    params: { id },
    body: { argv: ['bash', '-l'], stdin: true, pty: { cols: 80, rows: 24 } },
  })
  const screen = await openScreen(server, id, processId)
  screen.type('here=yes; echo "be$((1 + 1))fore"\r')
  await screen.until((lines) => lines.some((line) => line === 'be2fore'), 'the output')
  screen.close()
  await screen.closed
  const next = await openScreen(server, id, processId)
  await next.until((lines) => lines.some((line) => line === 'be2fore'), 'the scrollback')
  next.type('echo "still $here"; exit\r')
  await next.until((lines) => lines.some((line) => line === 'still yes'), 'the same shell')
  await next.closed
  must((await setting.look('true')) === '', 'the Dock does not run commands')
}
