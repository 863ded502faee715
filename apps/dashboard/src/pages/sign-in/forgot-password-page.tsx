import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { authenticate } from '../../api/client.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { useFormAction } from '../../lib/use-form-action.ts'
import { AuthLayout } from './auth-layout.tsx'

export function ForgotPasswordPage() {
  const [isSent, setSent] = useState(false)
  const { busy, error, run } = useFormAction()
  const ask = async (form: FormData): Promise<void> => {
    await authenticate('/request-password-reset', { email: form.get('email') })
    setSent(true)
  }
  return (
    <AuthLayout title="Forgot your password?">
      {isSent ? (
        <p role="status" className="m-0 text-sm">
          If an account has this address, a mail with a link is on its way.
        </p>
      ) : (
        <Form onSubmit={(fields) => run(() => ask(fields))}>
          <Field label="Email address" name="email" type="email" autoComplete="username" required autoFocus />
          {error !== undefined && <ErrorAlert error={error} />}
          <Button type="submit" look="primary" busy={busy}>
            Send me a link
          </Button>
        </Form>
      )}
      <Link to="/sign-in" className="text-sm text-accent underline">
        Back to the sign-in
      </Link>
    </AuthLayout>
  )
}
