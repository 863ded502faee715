import { type ITerminalOptions, Terminal } from '@xterm/xterm'

const cssColor = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Creates a terminal in the look of the page. */
export function openTerminal(options: ITerminalOptions = {}): Terminal {
  return new Terminal({
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
}
