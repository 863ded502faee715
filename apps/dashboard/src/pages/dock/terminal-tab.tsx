import type { DockInfo, DockProcess } from '@dock/sdk'
import { useCallback, useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { isReady } from '../../lib/dock-states.ts'
import { DockOff } from './dock-off.tsx'
import { TerminalView } from './terminal-view.tsx'

const isShell = ({ state, pty, stdin }: DockProcess): boolean =>
  state === 'running' && pty !== null && stdin.open

/** Terminals of a Dock. Each shows a process that outlives the page, so another page may show it too. */
export function TerminalTab({ dock }: { dock: DockInfo }) {
  if (!isReady(dock.state)) return <DockOff dock={dock} need="open a terminal" />
  return <Terminals dockId={dock.id} />
}

function Terminals({ dockId }: { dockId: string }) {
  const [shells, setShells] = useState<string[]>()
  const [shown, setShown] = useState<string>()
  const [error, setError] = useState<unknown>()
  const start = useCallback(async (): Promise<string> => {
    const body = { argv: ['bash', '-l'], stdin: true, pty: { cols: 80, rows: 24 } }
    return (await api.call('startDockProcess', { params: { id: dockId }, body })).id
  }, [dockId])
  const addShell = async (): Promise<void> => {
    setError(undefined)
    try {
      const id = await start()
      setShells((before) => [...(before ?? []), id])
      setShown(id)
    } catch (failure) {
      setError(failure)
    }
  }
  useEffect(() => {
    let isCurrent = true
    const find = async (): Promise<void> => {
      const all = await api.call('listDockProcesses', { params: { id: dockId } })
      const running = all.filter(isShell).map(({ id }) => id)
      if (!isCurrent) return
      const ids = running.length > 0 ? running : [await start()]
      if (!isCurrent) return
      setShells(ids)
      setShown(ids[0])
    }
    find().catch(setError)
    return () => {
      isCurrent = false
    }
  }, [dockId, start])
  const endShell = async (id: string): Promise<void> => {
    setShells((before) => before?.filter((each) => each !== id))
    setShown((before) => (before === id ? shells?.find((each) => each !== id) : before))
    await api
      .call('signalDockProcess', { params: { id: dockId, pid: id }, body: { signal: 'HUP' } })
      .catch(setError)
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <div className="flex flex-wrap items-center gap-1">
        {shells?.map((id, at) => (
          <span key={id} className="inline-flex items-center rounded-md border border-line bg-panel">
            <button
              type="button"
              aria-pressed={id === shown}
              onClick={() => setShown(id)}
              className="h-8 cursor-pointer rounded-l-md px-3 text-sm aria-pressed:bg-raised aria-pressed:font-medium"
            >
              Shell {at + 1}
            </button>
            <button
              type="button"
              aria-label={`End shell ${at + 1}`}
              onClick={() => void endShell(id)}
              className="h-8 cursor-pointer rounded-r-md px-2 text-sm text-muted hover:bg-raised"
            >
              ×
            </button>
          </span>
        ))}
        <Button look="quiet" className="h-8" onClick={() => void addShell()}>
          New shell
        </Button>
      </div>
      {error !== undefined && <ErrorAlert error={error} />}
      {shells === undefined && error === undefined && (
        <p className="m-0 text-sm text-muted">Opening a shell…</p>
      )}
      {shells?.map((id) => (
        <TerminalView key={id} dockId={dockId} processId={id} isShown={id === shown} />
      ))}
    </div>
  )
}
