import { type ReactNode, useState } from 'react'
import { ErrorAlert } from './alert.tsx'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

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
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const close = (): void => {
    setError(undefined)
    props.onClose()
  }
  const submit = async (form: FormData): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      await props.onSubmit(form)
      close()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      title={props.title}
      {...(props.description ? { description: props.description } : {})}
      open={props.open}
      onClose={close}
    >
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void submit(new FormData(event.currentTarget))
        }}
      >
        {props.children}
        {error !== undefined && <ErrorAlert error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look={props.look ?? 'primary'} busy={busy}>
            {props.action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Returns a field's text without spaces around it. */
export function textIn(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}
