import { getRouteApi, Link } from '@tanstack/react-router'
import { authenticate } from '../../api/client.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { NewPasswordField } from '../../components/new-password-field.tsx'
import { leavePage } from '../../lib/leave-page.ts'
import { invitationOf, signUpRefusal } from '../../lib/sign-up-policy.ts'
import { useFormAction } from '../../lib/use-form-action.ts'
import { afterSignIn } from './after-sign-in.ts'
import { AuthLayout } from './auth-layout.tsx'

const route = getRouteApi('/sign-up')

export function SignUpPage() {
  const { next } = route.useSearch()
  const invitationToken = invitationOf(next)
  const refusal = signUpRefusal(next)
  const { busy, error, run } = useFormAction()

  const signUp = async (form: FormData): Promise<void> => {
    await authenticate('/sign-up/email', {
      name: form.get('name'),
      email: form.get('email'),
      password: form.get('password'),
      callbackURL: '/',
      // Where only invited people may sign up, the token of the mailed link proves the invitation.
      ...(invitationToken ? { invitationToken } : {}),
    })
    await leavePage(afterSignIn(next))
  }
  const toSignIn = (
    <p className="m-0 text-sm">
      <Link to="/sign-in" search={{ next }} className="text-accent underline">
        I have an account
      </Link>
    </p>
  )
  if (refusal !== undefined)
    return (
      <AuthLayout title="Create an account">
        <p className="m-0 text-sm">{refusal}</p>
        {toSignIn}
      </AuthLayout>
    )
  return (
    <AuthLayout title="Create an account">
      <Form onSubmit={(fields) => run(() => signUp(fields))}>
        <Field label="Your name" name="name" autoComplete="name" required autoFocus />
        <Field label="Email address" name="email" type="email" autoComplete="username" required />
        <NewPasswordField label="Password" name="password" />
        {error !== undefined && <ErrorAlert error={error} />}
        <Button type="submit" look="primary" busy={busy}>
          Create account
        </Button>
      </Form>
      {toSignIn}
    </AuthLayout>
  )
}
