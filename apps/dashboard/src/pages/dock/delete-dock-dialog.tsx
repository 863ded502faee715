import type { DockInfo } from '@dock/sdk'
import { useNavigate } from '@tanstack/react-router'
import { api, repeatIfBroken } from '../../api/client.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { visibleName } from '../../lib/visible-text.ts'

/** Asks for the Dock's name, deletes it, and leads to the list. */
export function DeleteDockDialog(props: { dock: DockInfo; open: boolean; onClose: () => void }) {
  const navigate = useNavigate()
  const { id } = props.dock
  const name = visibleName(props.dock.name ?? id)
  return (
    <ConfirmDialog
      title={`Delete ${name}?`}
      description="Its disk and all its Snapshots are deleted. This cannot be undone."
      name={name}
      action="Delete"
      open={props.open}
      onClose={props.onClose}
      onConfirm={async () => {
        await repeatIfBroken(() =>
          api.call('deleteDock', { params: { id }, headers: { 'x-confirm-delete': id } }),
        )
        await navigate({ to: '/', search: {} })
      }}
    />
  )
}
