import { DockProcesses } from '@dock/sdk'
import { FitAddon } from '@xterm/addon-fit'
import '@xterm/xterm/css/xterm.css'
import { useEffect, useRef, useState } from 'react'
import { api, messageOf } from '../../../api/client.ts'
import { openTerminal } from '../open-terminal.ts'

/** The output of a process, from what is kept to what is still to come. Nothing can be typed. */
export function ProcessOutput(props: { dockId: string; processId: string; hasPty: boolean }) {
  const { dockId, processId, hasPty } = props
  const box = useRef<HTMLDivElement>(null)
  const [notice, setNotice] = useState('Reading…')
  useEffect(() => {
    // The output of a program without a terminal has no carriage returns.
    const terminal = openTerminal({ disableStdin: true, cursorBlink: false, convertEol: !hasPty })
    const fitter = new FitAddon()
    terminal.loadAddon(fitter)
    terminal.open(box.current!)
    const watcher = new ResizeObserver(() => fitter.fit())
    watcher.observe(box.current!)
    fitter.fit()
    const end = new AbortController()
    const follow = async (): Promise<void> => {
      const process = new DockProcesses(api, dockId).attach(processId)
      setNotice('Following…')
      // The next piece is read when this one is drawn, so a fast program waits instead of filling the memory.
      for await (const { data } of process.output({ signal: end.signal }))
        await new Promise<void>((resolve) => terminal.write(data, resolve))
      setNotice('This is all of its output.')
    }
    follow().catch((error: unknown) => {
      if (!end.signal.aborted) setNotice(messageOf(error))
    })
    return () => {
      end.abort()
      watcher.disconnect()
      terminal.dispose()
    }
  }, [dockId, processId, hasPty])
  return (
    <div>
      <div ref={box} className="h-80 overflow-hidden rounded-md bg-[#0d1117] p-2" />
      <p role="status" className="m-0 mt-1 text-xs text-muted">
        {notice}
      </p>
    </div>
  )
}
