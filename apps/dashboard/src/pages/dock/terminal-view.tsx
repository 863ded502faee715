import { FitAddon } from '@xterm/addon-fit'
import '@xterm/xterm/css/xterm.css'
import { useEffect, useRef, useState } from 'react'
import { onLeave, openTerminal } from './open-terminal.ts'
import { connectTerminal } from './terminal-connection.ts'

/** One terminal that shows a process of the Dock. */
export function TerminalView(props: { dockId: string; processId: string; isShown: boolean }) {
  const { dockId, processId, isShown } = props
  const box = useRef<HTMLDivElement>(null)
  const hint = useRef<HTMLParagraphElement>(null)
  const fit = useRef<() => void>(undefined)
  const [notice, setNotice] = useState<string>()

  useEffect(() => {
    const terminal = openTerminal()
    const fitter = new FitAddon()
    terminal.loadAddon(fitter)
    terminal.open(box.current!)
    onLeave(terminal, () => hint.current?.focus())
    const connection = connectTerminal(dockId, processId, {
      onBytes: (bytes) => terminal.write(bytes),
      onGap: () => terminal.reset(),
      onState: (state) =>
        setNotice(state === 'lost' ? 'The connection is lost. Connecting again…' : undefined),
      onEnd: setNotice,
    })
    const subscriptions = [
      terminal.onData((data) => connection.write(data)),
      terminal.onBinary((data) => connection.write(Uint8Array.from(data, (each) => each.charCodeAt(0)))),
      terminal.onResize(({ cols, rows }) => connection.resize(cols, rows)),
    ]
    fit.current = () => {
      if (!box.current?.offsetParent) return
      fitter.fit()
      connection.resize(terminal.cols, terminal.rows)
    }
    const watcher = new ResizeObserver(() => fit.current?.())
    watcher.observe(box.current!)
    fit.current()
    terminal.focus()
    return () => {
      watcher.disconnect()
      for (const subscription of subscriptions) subscription.dispose()
      connection.close()
      terminal.dispose()
    }
  }, [dockId, processId])

  useEffect(() => {
    if (isShown) fit.current?.()
  }, [isShown])

  return (
    <div hidden={!isShown}>
      <div
        ref={box}
        className="h-[min(65vh,40rem)] md:h-[max(20rem,calc(100dvh-17.5rem))] overflow-hidden rounded-md border border-line bg-[#0d1117] p-2"
      />
      <p ref={hint} tabIndex={-1} className="m-0 mt-2 rounded text-xs text-muted">
        Tab goes to the shell. Shift-Escape leaves the terminal.
      </p>
      {notice && (
        <p role="status" className="m-0 mt-2 text-sm text-wait">
          {notice}
        </p>
      )}
    </div>
  )
}
