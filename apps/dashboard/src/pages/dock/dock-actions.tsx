import type { DockInfo } from '@dock/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, repeatIfBroken } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { RefusableButton } from '../../components/refusable-button.tsx'
import { useDockRights } from '../../lib/dock-rights.ts'
import { canResume, canStop, isReady } from '../../lib/dock-states.ts'
import { useAction } from '../../lib/use-action.ts'
import { DeleteDockDialog } from './delete-dock-dialog.tsx'

/** Stop or resume, branch, and delete. */
export function DockActions({ dock }: { dock: DockInfo }) {
  const navigate = useNavigate()
  const { busy, run } = useAction()
  const [asksDelete, setAsksDelete] = useState(false)
  const { id } = dock
  const rights = useDockRights(id)
  const branch = async (): Promise<void> => {
    const made = await api.call('branchDock', { params: { id }, body: {} })
    await navigate({ to: '/docks/$id', params: { id: made.id }, search: { tab: 'terminal' } })
  }
  return (
    <div className="flex flex-wrap gap-2">
      {canStop(dock.state) && (
        <RefusableButton
          refusal={rights.stop}
          busy={busy === 'stop'}
          onClick={() =>
            run('stop', () => repeatIfBroken(() => api.call('stopDock', { params: { id }, body: {} })))
          }
        >
          {dock.state === 'error' ? 'Stop and save its disk' : 'Stop'}
        </RefusableButton>
      )}
      {canResume(dock.state) && (
        <Button
          look="primary"
          busy={busy === 'resume'}
          onClick={() =>
            run('resume', () => repeatIfBroken(() => api.call('resumeDock', { params: { id }, body: {} })))
          }
        >
          {busy === 'resume' ? 'Booting…' : 'Resume'}
        </Button>
      )}
      {(isReady(dock.state) || canResume(dock.state)) && (
        <Button busy={busy === 'branch'} onClick={() => run('branch', branch)}>
          {busy === 'branch' ? 'Branching…' : 'Branch'}
        </Button>
      )}
      <RefusableButton
        look="danger"
        refusal={rights.delete}
        disabled={rights.isPending}
        onClick={() => setAsksDelete(true)}
      >
        Delete
      </RefusableButton>
      <DeleteDockDialog dock={dock} open={asksDelete} onClose={() => setAsksDelete(false)} />
    </div>
  )
}
