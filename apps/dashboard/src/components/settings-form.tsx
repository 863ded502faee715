import type { ReactNode } from 'react'
import { useFormAction } from '../lib/use-form-action.ts'
import { ErrorAlert } from './alert.tsx'
import { Button } from './button.tsx'
import { Form } from './form.tsx'

/** Fields of a page with a button that saves them. It shows the error of `onSave`, and says when it is done. */
export function SettingsForm(props: {
  action?: string
  look?: 'primary' | 'plain'
  /** What is said when it is done. */
  done?: string
  disabled?: boolean
  /** Who may only read the fields sees no button. */
  isReadOnly?: boolean
  onSave: (form: FormData, element: HTMLFormElement) => Promise<unknown>
  children: ReactNode
}) {
  const { busy, error, run } = useFormAction()
  return (
    <Form
      className="grid max-w-md gap-4"
      onSubmit={(fields, element) => run(() => props.onSave(fields, element), props.done ?? 'Saved')}
    >
      {props.children}
      {error !== undefined && <ErrorAlert error={error} />}
      {!props.isReadOnly && (
        <Button
          type="submit"
          look={props.look ?? 'primary'}
          busy={busy}
          disabled={props.disabled ?? false}
          className="justify-self-start"
        >
          {props.action ?? 'Save'}
        </Button>
      )}
    </Form>
  )
}
