import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { authenticate } from '../../api/client.ts'
import { configQuery } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { leavePage } from '../../lib/leave-page.ts'
import { signUpRefusal } from '../../lib/sign-up-policy.ts'
import { useFormAction } from '../../lib/use-form-action.ts'
import { afterSignIn } from './after-sign-in.ts'
import { AuthLayout } from './auth-layout.tsx'

const route = getRouteApi('/sign-in')
const providerNames: Readonly<Record<string, string>> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  google: 'Google',
}

export function SignInPage() {
  const { next } = route.useSearch()
  const { data: config } = useQuery(configQuery)
  const { busy, error, run } = useFormAction()
  const target = afterSignIn(next)
  const refusal = signUpRefusal(next)

  const signIn = async (form: FormData): Promise<void> => {
    await authenticate('/sign-in/email', {
      email: form.get('email'),
      password: form.get('password'),
    })
    // A full load: the target may be an address of the service, and no state of another person remains.
    await leavePage(target)
  }
  const signInWith = async (provider: string): Promise<void> => {
    const { url } = await authenticate('/sign-in/social', { provider, callbackURL: target })
    if (typeof url === 'string' && /^https?:/.test(url)) await leavePage(url)
  }

  return (
    <AuthLayout title="Sign in to Dock">
      <Form onSubmit={(fields) => run(() => signIn(fields))}>
        <Field label="Email address" name="email" type="email" autoComplete="username" required autoFocus />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        {error !== undefined && <ErrorAlert error={error} />}
        <Button type="submit" look="primary" busy={busy}>
          Sign in
        </Button>
      </Form>
      {config?.authProviders
        .filter((provider) => provider in providerNames)
        .map((provider) => (
          <Button key={provider} onClick={() => run(() => signInWith(provider))}>
            Continue with {providerNames[provider]}
          </Button>
        ))}
      <p className="m-0 flex flex-wrap justify-between gap-x-4 gap-y-1 text-sm">
        <Link to="/forgot-password" className="text-accent underline">
          Forgot your password?
        </Link>
        {refusal === undefined && (
          <Link to="/sign-up" search={{ next }} className="text-accent underline">
            Create an account
          </Link>
        )}
      </p>
      {refusal !== undefined && <p className="m-0 text-xs text-muted">{refusal}</p>}
    </AuthLayout>
  )
}
