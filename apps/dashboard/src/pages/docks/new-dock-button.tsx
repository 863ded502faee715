import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useWorkspaces } from '../../api/use-workspaces.ts'
import { Button } from '../../components/button.tsx'
import { bareControlClass } from '../../components/field.tsx'
import { useCurrentOrganization } from '../../lib/current-organization.ts'
import { useAction } from '../../lib/use-action.ts'
import { createDock } from './create-dock.ts'

const key = 'dock-workspace'

/**
 * The button that creates a Dock and opens its terminal, with a choice of the workspace if there are several. `children`
 * are other ways to make one.
 */
export function NewDockButton({ children }: { children: ReactNode }) {
  const navigate = useNavigate()
  const { organization, hasNone } = useCurrentOrganization()
  const all = useWorkspaces().filter(({ organizationId }) => organizationId === organization?.id)
  const [chosen, setChosen] = useState(() => localStorage.getItem(key) ?? '')
  const { busy, run } = useAction()
  const workspace = all.find(({ id }) => id === chosen) ?? all[0]
  const workspaceId = workspace?.id

  const create = async (): Promise<void> => {
    if (workspaceId === undefined) return
    // The terminal's code loads while the Dock boots. What fails here is loaded again when it is shown.
    for (const load of [() => import('../dock/dock-page.tsx'), () => import('../dock/terminal-view.tsx')])
      load().catch(() => undefined)
    const { id } = await createDock(workspaceId)
    await navigate({ to: '/docks/$id', params: { id }, search: { tab: 'terminal' } })
  }
  return (
    <div className="grid w-[calc(100vw-2rem)] max-w-full grid-cols-2 gap-2 sm:flex sm:w-auto sm:items-center">
      {all.length > 1 && (
        <select
          aria-label="Workspace of the new Dock"
          value={workspaceId}
          onChange={({ target }) => {
            localStorage.setItem(key, target.value)
            setChosen(target.value)
          }}
          className={`col-span-2 min-w-0 cursor-pointer sm:max-w-52 ${bareControlClass}`}
        >
          {all.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      )}
      {children}
      <Button
        look="primary"
        busy={busy !== undefined}
        disabled={workspaceId === undefined}
        title={hasNone ? 'You are in no organization yet.' : undefined}
        onClick={() => run('create', create)}
      >
        {busy ? 'Starting a machine…' : 'New Dock'}
      </Button>
    </div>
  )
}
