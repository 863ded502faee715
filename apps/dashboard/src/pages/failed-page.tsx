import { ErrorAlert } from '../components/alert.tsx'
import { Button } from '../components/button.tsx'
import { AuthLayout } from './sign-in/auth-layout.tsx'

/** Stands in the place of a page that could not be loaded or shown. */
export function FailedPage({ error }: { error: unknown }) {
  return (
    <AuthLayout title="This page could not be shown">
      <ErrorAlert error={error} />
      <p className="m-0 text-sm text-muted">
        The connection broke, or the service was updated or is starting. Nothing that you saved is lost.
      </p>
      <Button look="primary" onClick={() => location.reload()}>
        Load it again
      </Button>
    </AuthLayout>
  )
}
