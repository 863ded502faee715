import { useState } from 'react'
import { api, authenticate } from '../../api/client.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { AuthLayout } from '../sign-in/auth-layout.tsx'
import { EraseSection } from './erase-section.tsx'

/** What a person sees who signs in to a closed account: reopen it, or erase it. */
export function ClosedPage() {
  const [busy, setBusy] = useState<string>()
  const [error, setError] = useState<unknown>()
  const act = async (what: string, work: () => Promise<unknown>, then: string): Promise<void> => {
    setBusy(what)
    setError(undefined)
    try {
      await work()
      location.assign(then)
    } catch (failure) {
      setError(failure)
      setBusy(undefined)
    }
  }
  return (
    <AuthLayout title="Your account is closed">
      <p className="m-0 text-sm">
        It is kept for 30 days from its closing, and then erased. Reopen it to go on: your organizations and
        stopped Docks are as you left them. Make new API keys and SSH keys.
      </p>
      {error !== undefined && <ErrorAlert error={error} />}
      <div className="flex flex-wrap gap-2">
        <Button
          look="primary"
          busy={busy === 'reopen'}
          onClick={() => void act('reopen', () => api.call('reopenAccount'), '/')}
        >
          Reopen account
        </Button>
        <Button
          busy={busy === 'out'}
          onClick={() => void act('out', () => authenticate('/sign-out', {}), '/sign-in')}
        >
          Sign out
        </Button>
      </div>
      <EraseSection />
    </AuthLayout>
  )
}
