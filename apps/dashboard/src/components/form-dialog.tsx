import type { ReactNode } from 'react'
import { useFormAction } from '../lib/use-form-action.ts'
import { ErrorAlert } from './alert.tsx'
import { Button } from './button.tsx'
import { Dialog, DialogActions } from './dialog.tsx'
import { Form } from './form.tsx'

/** A dialog with a form. It closes when `onSubmit` has succeeded, and shows its error otherwise. */
export function FormDialog(props: {
  title: string
  description?: string
  action: string
  look?: 'primary' | 'danger'
  open: boolean
  onClose: () => void
  onSubmit: (form: FormData) => Promise<unknown>
  children: ReactNode
}) {
  const { busy, error, run, clear } = useFormAction()
  const close = (): void => {
    clear()
    props.onClose()
  }
  const submit = async (form: FormData): Promise<void> => {
    await props.onSubmit(form)
    close()
  }
  return (
    <Dialog
      title={props.title}
      {...(props.description ? { description: props.description } : {})}
      open={props.open}
      onClose={close}
    >
      <Form onSubmit={(fields) => run(() => submit(fields))}>
        {props.children}
        {error !== undefined && <ErrorAlert error={error} />}
        <DialogActions>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look={props.look ?? 'primary'} busy={busy}>
            {props.action}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}

/** Returns a field's text without spaces around it. */
export function textIn(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}
