import { Button } from '../../components/button.tsx'
import { CopyLine } from '../../components/copy-line.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { useSendsMail } from '../../lib/use-sends-mail.ts'

export type InvitationLink = { email: string; link: string }

/** Shows the link of an invitation, once. */
export function LinkDialog({ linked, onClose }: { linked: InvitationLink | undefined; onClose: () => void }) {
  const sendsMail = useSendsMail()
  return (
    <Dialog
      title={`Link for ${linked?.email ?? ''}`}
      description="Hand it over yourself. It is shown once, works for 7 days and only for this address. Links from before no longer work."
      open={linked !== undefined}
      onClose={onClose}
    >
      <CopyLine label="Link of the invitation" text={linked?.link ?? ''} />
      {!sendsMail && (
        <p className="m-0 text-sm text-muted">
          A person without an account makes one with this link. This server sends no mail, so an instance
          admin then vouches for the address on the page Plans.
        </p>
      )}
      <div className="flex justify-end">
        <Button onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  )
}
