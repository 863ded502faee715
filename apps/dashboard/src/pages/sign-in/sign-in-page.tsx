import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { authenticate } from '../../api/client.ts'
import { configQuery } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { signUpRefusal } from '../../lib/sign-up-policy.ts'
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
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const target = afterSignIn(next)
  const refusal = signUpRefusal(next)

  const signIn = async (form: FormData): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      await authenticate('/sign-in/email', {
        email: form.get('email'),
        password: form.get('password'),
      })
      // A full load: the target may be an address of the service, and no state of another person remains.
      location.assign(target)
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  const signInWith = async (provider: string): Promise<void> => {
    try {
      const { url } = await authenticate('/sign-in/social', { provider, callbackURL: target })
      if (typeof url === 'string' && /^https?:/.test(url)) location.assign(url)
    } catch (failure) {
      setError(failure)
    }
  }

  return (
    <AuthLayout title="Sign in to Dock">
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void signIn(new FormData(event.currentTarget))
        }}
      >
        <Field label="Email address" name="email" type="email" autoComplete="username" required autoFocus />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        {error !== undefined && <ErrorAlert error={error} />}
        <Button type="submit" look="primary" busy={busy}>
          Sign in
        </Button>
      </form>
      {config?.authProviders
        .filter((provider) => provider in providerNames)
        .map((provider) => (
          <Button key={provider} onClick={() => void signInWith(provider)}>
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
