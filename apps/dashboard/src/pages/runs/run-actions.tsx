import type { Run } from '@dock/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { showToast } from '../../components/toasts.tsx'
import { useAction } from '../../lib/use-action.ts'
import { isLive } from './run-texts.ts'
import { StartRunDialog } from './start-run-dialog.tsx'

/** What can be done with a Run in its state. */
export function RunActions({ run, isAdmin }: { run: Run; isAdmin: boolean }) {
  const client = useQueryClient()
  const { busy, run: act } = useAction()
  const [asks, setAsks] = useState<'stop' | 'retry'>()
  const close = (): void => setAsks(undefined)
  const at = { params: { id: run.id }, query: {} }
  const again = () => client.invalidateQueries({ queryKey: ['run'] })
  const promote = async (): Promise<void> => {
    await api.call('promoteRun', at)
    await again()
    showToast('The Run has a Dock now')
  }
  return (
    <>
      {isLive(run.state) && run.executionTarget === 'fast' && (
        <Button busy={busy === 'promote'} onClick={() => act('promote', promote)}>
          Promote to a Dock
        </Button>
      )}
      {isLive(run.state) ? (
        <Button look="danger" onClick={() => setAsks('stop')}>
          Stop
        </Button>
      ) : (
        <Button
          disabled={!isAdmin}
          title={isAdmin ? undefined : 'Only admins start Runs by hand.'}
          onClick={() => setAsks('retry')}
        >
          Retry
        </Button>
      )}
      <FormDialog
        title="Stop this Run?"
        description="The agent and everything that it started end, and nothing is pushed afterwards. What was pushed stays. A Run that was stopped cannot go on: a retry is a new Run."
        action="Stop"
        look="danger"
        open={asks === 'stop'}
        onClose={close}
        onSubmit={async () => {
          await api.call('stopRun', at)
          await again()
        }}
      >
        {null}
      </FormDialog>
      {asks === 'retry' && <StartRunDialog workspaceId={run.workspaceId} again={run} onClose={close} />}
    </>
  )
}
