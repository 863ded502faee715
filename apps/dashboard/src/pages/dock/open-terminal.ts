import { type ITerminalOptions, Terminal } from '@xterm/xterm'

const cssColor = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Creates a terminal in the look of the page. */
export function openTerminal(options: ITerminalOptions = {}): Terminal {
  const terminal = new Terminal({
    fontFamily: cssColor('--font-mono') || 'monospace',
    fontSize: 13,
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    scrollback: 10_000,
    // What a Dock prints is hostile: it opens no links, and sets neither clipboard nor the page's title.
    linkHandler: null,
    theme: { background: '#0d1117', foreground: '#e6ebf2', cursor: '#7aa7ff' },
    screenReaderMode: false,
    ...options,
  })
  // Nobody types into a terminal that only shows, so Tab leads on to the next control.
  if (options.disableStdin) terminal.attachCustomKeyEventHandler(({ key }) => key !== 'Tab')
  return terminal
}

/** Calls `leave` for the keys that leave the terminal. Tab and Escape belong to the programs in it. */
export function onLeave(terminal: Terminal, leave: () => void): void {
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key !== 'Escape' || !event.shiftKey) return true
    event.preventDefault()
    if (event.type === 'keydown') leave()
    return false
  })
}
