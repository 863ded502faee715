import { Button } from '../../components/button.tsx'
import { CopyLine } from '../../components/copy-line.tsx'
import { Dialog, DialogActions } from '../../components/dialog.tsx'

/** Shows a signing secret, this once. */
export function SecretDialog({ secret, onClose }: { secret: string | undefined; onClose: () => void }) {
  return (
    <Dialog
      title="The signing secret"
      description="Copy it now: it is not shown again. Your receiver checks the header dock-signature with it."
      open={secret !== undefined}
      onClose={onClose}
    >
      <CopyLine label="Secret" text={secret ?? ''} />
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          I have stored it
        </Button>
      </DialogActions>
    </Dialog>
  )
}
