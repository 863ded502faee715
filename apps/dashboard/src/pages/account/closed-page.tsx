import { api, authenticate } from '../../api/client.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { leavePage } from '../../lib/leave-page.ts'
import { useFormAction } from '../../lib/use-form-action.ts'
import { AuthLayout } from '../sign-in/auth-layout.tsx'
import { EraseSection } from './erase-section.tsx'

/** What a person sees who signs in to a closed account: reopen it, or erase it. */
export function ClosedPage() {
  const reopening = useFormAction()
  const leaving = useFormAction()
  const error = reopening.error ?? leaving.error
  const reopen = async (): Promise<void> => {
    await api.call('reopenAccount')
    await leavePage('/')
  }
  const signOut = async (): Promise<void> => {
    await authenticate('/sign-out', {})
    await leavePage('/sign-in')
  }
  return (
    <AuthLayout title="Your account is closed">
      <p className="m-0 text-sm">
        It is kept for 30 days from its closing, and then erased. Reopen it to go on: your organizations and
        stopped Docks are as you left them. Make new API keys and SSH keys.
      </p>
      {error !== undefined && <ErrorAlert error={error} />}
      <div className="flex flex-wrap gap-2">
        <Button look="primary" busy={reopening.busy} onClick={() => reopening.run(reopen)}>
          Reopen account
        </Button>
        <Button busy={leaving.busy} onClick={() => leaving.run(signOut)}>
          Sign out
        </Button>
      </div>
      <EraseSection />
    </AuthLayout>
  )
}
