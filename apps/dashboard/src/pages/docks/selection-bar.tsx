import type { ListedDock } from '@dock/sdk'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { RefusableButton } from '../../components/refusable-button.tsx'
import { showToast } from '../../components/toasts.tsx'
import { deleteRefusal, usePerson } from '../../lib/dock-rights.ts'
import { mayDelete } from '../../lib/may-delete.ts'
import { useAction } from '../../lib/use-action.ts'

/** Requests that run at the same time. */
const atOnce = 4

/** Runs the work for all, and returns how many failed with the first error. */
const forEach = async (
  docks: readonly ListedDock[],
  work: (dock: ListedDock) => Promise<unknown>,
): Promise<{ failed: number; error: unknown }> => {
  const left = [...docks]
  let failed = 0
  let error: unknown
  const run = async (): Promise<void> => {
    for (let dock = left.shift(); dock; dock = left.shift())
      await work(dock).catch((failure: unknown) => {
        failed++
        error ??= failure
      })
  }
  await Promise.all(Array.from({ length: atOnce }, run))
  return { failed, error }
}

const refusalOf = (refused: number, all: number): string =>
  all === 1
    ? deleteRefusal
    : `You may not delete ${refused} of them: only their creators and the admins of their organization may.`

/** What can be done with the selected Docks. */
export function SelectionBar({ docks, onDone }: { docks: readonly ListedDock[]; onDone: () => void }) {
  const { busy, run } = useAction()
  const [asksDelete, setAsksDelete] = useState(false)
  const person = usePerson()
  const refused = person ? docks.filter((dock) => !mayDelete(dock, person)).length : 0
  const count = docks.length === 1 ? '1 Dock' : `${docks.length} Docks`
  const act = async (done: string, work: (dock: ListedDock) => Promise<unknown>): Promise<void> => {
    const { failed, error } = await forEach(docks, work)
    const message = error instanceof Error ? error.message : ''
    showToast(failed === 0 ? `${count} ${done}` : `${failed} of ${count} failed. ${message}`, failed > 0)
    onDone()
  }
  return (
    <div className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-panel px-3 py-2 text-sm">
      <span className="mr-auto">{count} selected</span>
      <Button
        busy={busy !== undefined}
        onClick={() =>
          run('stop', () => act('stopped', ({ id }) => api.call('stopDock', { params: { id }, body: {} })))
        }
      >
        Stop
      </Button>
      <RefusableButton
        look="danger"
        busy={busy !== undefined}
        refusal={refused === 0 ? undefined : refusalOf(refused, docks.length)}
        disabled={!person}
        onClick={() => setAsksDelete(true)}
      >
        Delete
      </RefusableButton>
      <ConfirmDialog
        title={`Delete ${count}?`}
        description="Their disks and all their Snapshots are deleted. This cannot be undone."
        name={count}
        action="Delete"
        open={asksDelete}
        onClose={() => setAsksDelete(false)}
        onConfirm={() =>
          act('deleted', ({ id }) =>
            api.call('deleteDock', { params: { id }, headers: { 'x-confirm-delete': id } }),
          )
        }
      />
    </div>
  )
}
