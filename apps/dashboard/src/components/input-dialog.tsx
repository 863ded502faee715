import { useState } from 'react'
import { useFormAction } from '../lib/use-form-action.ts'
import { ErrorAlert } from './alert.tsx'
import { Button } from './button.tsx'
import { Dialog, DialogActions } from './dialog.tsx'
import { Field } from './field.tsx'
import { Form } from './form.tsx'

/** Asks for one line of text. Mount it to open it. It closes when `onSubmit` succeeds, and shows its error otherwise. */
export function InputDialog(props: {
  title: string
  description?: string
  label: string
  initial?: string
  action: string
  onClose: () => void
  onSubmit: (text: string) => Promise<unknown>
}) {
  const [text, setText] = useState(props.initial ?? '')
  const { busy, error, run } = useFormAction()
  const submit = async (): Promise<void> => {
    await props.onSubmit(text)
    props.onClose()
  }
  return (
    <Dialog title={props.title} description={props.description} open onClose={props.onClose}>
      <Form onSubmit={() => run(submit)}>
        <Field
          label={props.label}
          value={text}
          autoComplete="off"
          onChange={({ target }) => setText(target.value)}
        />
        {error !== undefined && <ErrorAlert error={error} />}
        <DialogActions>
          <Button onClick={props.onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={busy} disabled={text === '' || text === props.initial}>
            {props.action}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
