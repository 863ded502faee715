import { Link } from '@tanstack/react-router'

export function NotFoundPage() {
  return (
    <main className="grid min-h-[60vh] place-content-center gap-2 p-6 text-center">
      <h1 className="m-0 text-lg font-semibold">There is nothing here</h1>
      <p className="m-0 text-sm text-muted">The address is wrong, or what it named is gone.</p>
      <Link to="/" className="text-sm text-accent underline">
        All Docks
      </Link>
    </main>
  )
}
