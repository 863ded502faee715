import type { DockInfo } from '@dock/sdk'
import { wordOf } from '../lib/dock-states.ts'

type DockState = DockInfo['state']

const colors: Record<DockState, string> = {
  provisioning: 'text-wait',
  provisioned: 'text-wait',
  cloning: 'text-wait',
  ready: 'text-good',
  running: 'text-good',
  idle: 'text-muted',
  archiving: 'text-wait',
  archived: 'text-muted',
  unreachable: 'text-bad',
  error: 'text-bad',
}

/** A Dock's state as a dot and a word. */
export function StateBadge({ state }: { state: DockState }) {
  return (
    <span className={`inline-flex items-center gap-1.5 text-sm font-medium ${colors[state]}`}>
      <svg viewBox="0 0 8 8" className="size-2" aria-hidden="true">
        <circle cx="4" cy="4" r="4" fill="currentColor" />
      </svg>
      {wordOf(state)}
    </span>
  )
}
