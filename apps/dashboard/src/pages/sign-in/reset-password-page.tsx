import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { authenticate } from '../../api/client.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button, buttonClass } from '../../components/button.tsx'
import { Form } from '../../components/form.tsx'
import { NewPasswordField } from '../../components/new-password-field.tsx'
import { useFormAction } from '../../lib/use-form-action.ts'
import { AuthLayout } from './auth-layout.tsx'

const route = getRouteApi('/reset-password')

export function ResetPasswordPage() {
  const { token } = route.useSearch()
  const [isDone, setDone] = useState(false)
  const { busy, error, run } = useFormAction()
  const set = async (form: FormData): Promise<void> => {
    await authenticate('/reset-password', { token, newPassword: form.get('password') })
    setDone(true)
  }
  if (token === undefined)
    return (
      <AuthLayout title="Set a new password">
        <p className="m-0 text-sm">
          The link is not complete. Open it again from your mail, or ask for a new one.
        </p>
        <Link to="/forgot-password" className={buttonClass('primary')}>
          Send me a new link
        </Link>
        <Link to="/sign-in" className="text-sm text-accent underline">
          Back to the sign-in
        </Link>
      </AuthLayout>
    )
  return (
    <AuthLayout title="Set a new password">
      {isDone ? (
        <p role="status" className="m-0 text-sm">
          Your password is set. Your API keys and SSH keys were removed, because somebody else may have made
          them.
        </p>
      ) : (
        <Form onSubmit={(fields) => run(() => set(fields))}>
          <NewPasswordField label="New password" name="password" autoFocus />
          {error !== undefined && <ErrorAlert error={error} />}
          <Button type="submit" look="primary" busy={busy}>
            Set password
          </Button>
        </Form>
      )}
      <Link to="/sign-in" className="text-sm text-accent underline">
        Back to the sign-in
      </Link>
    </AuthLayout>
  )
}
