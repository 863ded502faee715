import { DockApiError } from '@dock/sdk'
import { messageOf } from '../api/client.ts'

/** Shows the service's sentence about an error, and for a report the code and the id of the request. */
export function ErrorAlert({ error }: { error: unknown }) {
  return (
    <div role="alert" className="rounded-md border border-bad/40 bg-panel px-3 py-2 text-sm">
      <p className="m-0 text-bad">{messageOf(error)}</p>
      {error instanceof DockApiError && (
        <p className="m-0 mt-1 font-mono text-xs text-muted">
          {error.code}
          {error.requestId !== null && <> · request {error.requestId}</>}
        </p>
      )}
    </div>
  )
}
