import { Link } from '@tanstack/react-router'
import { buttonClass } from '../components/button.tsx'
import { AuthLayout } from './sign-in/auth-layout.tsx'

export function NotFoundPage() {
  return (
    <AuthLayout title="There is nothing here">
      <p className="m-0 text-sm text-muted">The address is wrong, or what it named is gone.</p>
      <Link to="/" className={buttonClass('primary')}>
        All Docks
      </Link>
    </AuthLayout>
  )
}
