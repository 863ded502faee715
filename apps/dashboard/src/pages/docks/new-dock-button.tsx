import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { organizationsQuery, workspacesQuery } from '../../api/queries.ts'
import { Button } from '../../components/button.tsx'
import { showError } from '../../components/toasts.tsx'
import { createDock } from './create-dock.ts'

const key = 'dock-workspace'

/** The button that creates a Dock and opens its terminal, with a choice of the workspace if there are several. */
export function NewDockButton() {
  const navigate = useNavigate()
  const client = useQueryClient()
  const organizations = useQuery(organizationsQuery)
  const [all, setAll] = useState<{ id: string; label: string }[]>([])
  const [chosen, setChosen] = useState(() => localStorage.getItem(key) ?? '')
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    let isCurrent = true
    const list = organizations.data ?? []
    const read = async () => {
      const lists = await Promise.all(list.map(({ id }) => client.ensureQueryData(workspacesQuery(id))))
      const labelled = lists.flatMap((workspaces, at) =>
        workspaces.map(({ id, name }) => ({ id, label: `${list[at]!.name} / ${name}` })),
      )
      if (isCurrent) setAll(labelled)
    }
    read().catch(showError)
    return () => {
      isCurrent = false
    }
  }, [organizations.data, client])
  const workspaceId = all.find(({ id }) => id === chosen)?.id ?? all[0]?.id

  const create = async (): Promise<void> => {
    if (workspaceId === undefined) return
    setBusy(true)
    // The terminal's code loads while the Dock boots.
    void import('../dock/dock-page.tsx')
    void import('../dock/terminal-view.tsx')
    try {
      const { id } = await createDock(workspaceId)
      await navigate({ to: '/docks/$id', params: { id }, search: { tab: 'terminal' } })
    } catch (error) {
      showError(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      {all.length > 1 && (
        <select
          aria-label="Workspace of the new Dock"
          value={workspaceId}
          onChange={({ target }) => {
            localStorage.setItem(key, target.value)
            setChosen(target.value)
          }}
          className="h-9 max-w-52 rounded-md border border-line bg-panel px-2 text-sm"
        >
          {all.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      )}
      <Button look="primary" busy={busy} disabled={workspaceId === undefined} onClick={() => void create()}>
        {busy ? 'Starting a machine…' : 'New Dock'}
      </Button>
    </div>
  )
}
