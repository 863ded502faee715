import { useState } from 'react'
import { authenticate } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { showError, showToast } from '../../components/toasts.tsx'

/** Says that the address is not confirmed yet, and mails the link again. */
export function VerificationNotice({ email }: { email: string }) {
  const [busy, setBusy] = useState(false)
  const send = async (): Promise<void> => {
    setBusy(true)
    try {
      await authenticate('/send-verification-email', { email })
      showToast(`Mailed to ${email}`)
    } catch (error) {
      showError(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 rounded-lg border border-line bg-raised px-4 py-3">
      <p className="m-0 min-w-0 flex-1 basis-64 text-sm">
        <span className="font-medium text-wait">Confirm your address.</span> Open the link in the mail to{' '}
        {email}. Until then you can make no keys and accept no invitations.
      </p>
      <Button busy={busy} onClick={() => void send()}>
        Send the mail again
      </Button>
    </div>
  )
}
