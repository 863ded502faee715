import { DockApiError } from '@dock/sdk'
import type { ReactNode } from 'react'
import { messageOf, SignInError } from '../api/client.ts'
import { Button } from './button.tsx'

const tones = {
  info: 'border-line bg-panel',
  good: 'border-good/40 bg-soft-good',
  wait: 'border-wait/40 bg-soft-wait',
  bad: 'border-bad/40 bg-soft-bad',
} as const

/** A message that stays on the page. */
export function Notice({ tone = 'info', children }: { tone?: keyof typeof tones; children: ReactNode }) {
  return <div className={`grid gap-1 rounded-md border px-3.5 py-2.5 text-sm ${tones[tone]}`}>{children}</div>
}

/** Shows the service's sentence about an error, with the code and the request id for a report. `onRetry` adds a button. */
export function ErrorAlert({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3 rounded-md border border-bad/40 bg-soft-bad px-3.5 py-2.5 text-sm"
    >
      <div className="mr-auto min-w-0">
        <p className="m-0 text-bad">{messageOf(error)}</p>
        {(error instanceof DockApiError || error instanceof SignInError) && (
          <p className="m-0 mt-1 font-mono text-xs text-muted">
            {error.code}
            {error.requestId !== null && <> · request {error.requestId}</>}
          </p>
        )}
      </div>
      {onRetry && (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}
