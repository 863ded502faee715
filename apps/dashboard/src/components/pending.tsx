import { ErrorAlert } from './alert.tsx'

/** What stands where something is still being read, or could not be. */
export function Pending({ error }: { error: unknown }) {
  return error ? <ErrorAlert error={error} /> : <p className="m-0 text-sm text-muted">Loading…</p>
}
