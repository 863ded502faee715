import { useState } from 'react'
import { useFormAction } from '../lib/use-form-action.ts'
import { ErrorAlert } from './alert.tsx'
import { Button } from './button.tsx'
import { Dialog, DialogActions } from './dialog.tsx'
import { Field } from './field.tsx'
import { Form } from './form.tsx'

/** Asks for the name of what is lost before `onConfirm`, and shows its error. */
export function ConfirmDialog(props: {
  title: string
  /** What is lost. */
  description: string
  name: string
  action: string
  open: boolean
  onClose: () => void
  onConfirm: () => Promise<unknown>
}) {
  const [typed, setTyped] = useState('')
  const { busy, error, run, clear } = useFormAction()
  const close = (): void => {
    setTyped('')
    clear()
    props.onClose()
  }
  const confirm = async (): Promise<void> => {
    await props.onConfirm()
    close()
  }
  return (
    <Dialog title={props.title} description={props.description} open={props.open} onClose={close}>
      <Form onSubmit={() => run(confirm)}>
        <Field
          label={
            <>
              Type <bdi className="rounded-sm bg-raised px-1 font-mono text-xs">{props.name}</bdi> to confirm
            </>
          }
          value={typed}
          autoComplete="off"
          onChange={(event) => setTyped(event.target.value)}
        />
        {error !== undefined && <ErrorAlert error={error} />}
        <DialogActions>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="danger" busy={busy} disabled={typed !== props.name}>
            {props.action}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
