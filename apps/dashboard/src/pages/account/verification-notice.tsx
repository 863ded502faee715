import { authenticate } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { showToast } from '../../components/toasts.tsx'
import { useAction } from '../../lib/use-action.ts'
import { useSendsMail } from '../../lib/use-sends-mail.ts'

/** Says that the address is not confirmed yet, and mails the link again, or says who confirms it without a mail. */
export function VerificationNotice({ email }: { email: string }) {
  const { busy, run } = useAction()
  const sendsMail = useSendsMail()
  const send = async (): Promise<void> => {
    await authenticate('/send-verification-email', { email })
    showToast(`Mailed to ${email}`)
  }
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 rounded-lg border border-line bg-raised px-4 py-3">
      <p className="m-0 min-w-0 flex-1 basis-64 text-sm">
        <span className="font-medium text-wait">Confirm your address.</span>{' '}
        {sendsMail
          ? `Open the link in the mail to ${email}.`
          : `This server sends no mail: ask the people who run it to confirm ${email}.`}{' '}
        Until then you can make nothing and accept no invitations.
      </p>
      {sendsMail && (
        <Button busy={busy !== undefined} onClick={() => run('send', send)}>
          Send the mail again
        </Button>
      )}
    </div>
  )
}
