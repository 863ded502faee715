import { eraseConfirmation } from '@dock/sdk/dashboard-rules'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Panel } from '../../components/page.tsx'

/** Erases the account, which cannot be undone. */
export function EraseSection() {
  const [asks, setAsks] = useState(false)
  return (
    <Panel danger title="Erase the account" text="At once and for good. Nobody can bring anything back.">
      <ul className="m-0 grid max-w-2xl list-disc gap-1.5 pl-5 text-sm">
        <li>Your name, address, sign-ins, keys, messages and settings are deleted.</li>
        <li>
          Organizations that have only you are deleted, with all Docks, Snapshots and Environments in them.
        </li>
        <li>
          Docks that you made in shared organizations stay with them, without your name. If you are the only
          owner of one, make somebody else an owner first.
        </li>
      </ul>
      <Button look="danger" className="justify-self-start" onClick={() => setAsks(true)}>
        Erase account
      </Button>
      <ConfirmDialog
        title="Erase your account?"
        description="Everything that is only yours is deleted now, also Docks and Snapshots in organizations that have only you. This cannot be undone."
        name={eraseConfirmation}
        action="Erase everything"
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={async () => {
          await api.call('eraseAccount', { body: { confirmation: eraseConfirmation } })
          location.assign('/sign-in')
        }}
      />
    </Panel>
  )
}
