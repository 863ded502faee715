import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Panel } from '../../components/page.tsx'

/** Closes the account, which can be undone for 30 days. */
export function CloseSection({ email }: { email: string }) {
  const [asks, setAsks] = useState(false)
  return (
    <Panel
      danger
      title="Close the account"
      text="You can come back within 30 days: sign in and reopen it. After that it is erased."
    >
      <ul className="m-0 grid max-w-2xl list-disc gap-1.5 pl-5 text-sm">
        <li>
          The running Docks that you made are stopped, and so are all in organizations that have only you.
        </li>
        <li>
          Your API keys are revoked, and your SSH keys and all sessions are removed. Reopening brings none
          back.
        </li>
        <li>
          Other members keep the organizations that you share. If you are the only owner of one, make somebody
          else an owner first.
        </li>
      </ul>
      <Button look="danger" className="justify-self-start" onClick={() => setAsks(true)}>
        Close account
      </Button>
      <ConfirmDialog
        title="Close your account?"
        description="Your Docks stop, your keys end, and you are signed out everywhere. For 30 days you can sign in again and reopen it."
        name={email}
        action="Close account"
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={async () => {
          await api.call('closeAccount')
          location.assign('/sign-in')
        }}
      />
    </Panel>
  )
}
