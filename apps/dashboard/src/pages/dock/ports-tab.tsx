import type { DockInfo } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { portsQuery } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { showError, showToast } from '../../components/toasts.tsx'

/** Ports of the Dock that the web reaches. */
export function PortsTab({ dock }: { dock: DockInfo }) {
  const { id } = dock
  const client = useQueryClient()
  const ports = useQuery(portsQuery(id))
  const [port, setPort] = useState('')
  const [busy, setBusy] = useState(false)
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true)
    try {
      await work()
      setPort('')
      await client.invalidateQueries({ queryKey: ['port', id] })
    } catch (error) {
      showError(error)
    } finally {
      setBusy(false)
    }
  }
  const copy = async (url: string): Promise<void> => {
    await navigator.clipboard.writeText(url)
    showToast('Copied')
  }
  return (
    <div className="grid gap-4">
      <form
        className="flex items-center gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          void act(() => api.call('exposePort', { params: { id }, body: { port: Number(port) } }))
        }}
      >
        <input
          aria-label="Port to expose"
          placeholder="3000"
          inputMode="numeric"
          pattern="[0-9]{1,5}"
          required
          value={port}
          onChange={({ target }) => setPort(target.value)}
          className="h-9 w-28 rounded-md border border-line bg-panel px-3 text-sm"
        />
        <Button type="submit" busy={busy}>
          Expose this port
        </Button>
      </form>
      <p className="m-0 text-xs text-muted">Everybody who has the address of an exposed port can reach it.</p>
      {ports.error && <ErrorAlert error={ports.error} />}
      <ul className="m-0 grid list-none p-0">
        {ports.data?.map((entry) => (
          <li
            key={entry.port}
            className="flex flex-wrap items-center gap-3 border-b border-line py-2 text-sm"
          >
            <span className="w-16 font-mono">{entry.port}</span>
            {entry.url ? (
              <>
                <a
                  href={entry.url}
                  target="_blank"
                  rel="noreferrer noopener"
                  className="min-w-0 flex-1 truncate text-accent underline"
                >
                  {entry.url}
                </a>
                <Button
                  look="quiet"
                  aria-label={`Copy the address of port ${entry.port}`}
                  onClick={() => void copy(entry.url!)}
                >
                  Copy
                </Button>
              </>
            ) : (
              <span className="flex-1 text-muted">This service has no domain for ports.</span>
            )}
            <Button
              look="quiet"
              busy={busy}
              onClick={() => void act(() => api.call('unexposePort', { params: { id, port: entry.port } }))}
            >
              Close
            </Button>
          </li>
        ))}
      </ul>
    </div>
  )
}
