import type { DockProcess, SignalName } from '@dock/sdk'
import type { ReactNode } from 'react'
import { api } from '../../../api/client.ts'
import { RowMenu } from '../../../components/row-menu.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import { showError } from '../../../components/toasts.tsx'
import { visibleName } from '../../../lib/visible-text.ts'

const signals: readonly { name: SignalName; label: string }[] = [
  { name: 'INT', label: 'Interrupt (INT)' },
  { name: 'TERM', label: 'Ask it to end (TERM)' },
  { name: 'HUP', label: 'Hang up (HUP)' },
  { name: 'STOP', label: 'Pause (STOP)' },
  { name: 'CONT', label: 'Go on (CONT)' },
]

const reasons: Partial<Record<NonNullable<DockProcess['reason']>, string>> = {
  timed_out: 'its time was over',
  out_of_memory: 'the Dock ran out of memory',
  dock_ended: 'the Dock was stopped',
  keeper_lost: 'its host lost its output',
  lost: 'its host does not know its exit code',
}

const stateOf = ({ state, exitCode, signal, reason }: DockProcess): string => {
  if (state === 'running') return 'running'
  const why = reason && reasons[reason]
  if (why) return `ended: ${why}`
  return signal ? `ended by ${signal}` : `exit ${exitCode}`
}

/** One process. Its children are its output, shown when asked for. */
export function ProcessRow(props: {
  dockId: string
  process: DockProcess
  isShown: boolean
  onShow: () => void
  onChange: () => void
  children: ReactNode
}) {
  const { dockId, process } = props
  const command = visibleName(process.command)
  const send = async (signal: SignalName): Promise<void> => {
    const target = signal === 'KILL' ? 'tree' : 'group'
    try {
      await api.call('signalDockProcess', {
        params: { id: dockId, pid: process.id },
        body: { signal, target },
      })
      props.onChange()
    } catch (error) {
      showError(error)
    }
  }
  const isRunning = process.state === 'running'
  const hasFailed = !isRunning && process.exitCode !== 0
  return (
    <li className="grid grid-cols-[minmax(0,1fr)] gap-2 px-3 py-2 text-sm">
      <div className="flex items-center gap-3">
        <button
          type="button"
          aria-expanded={props.isShown}
          onClick={props.onShow}
          className="flex min-w-0 flex-1 cursor-pointer items-center gap-2 rounded px-1 py-1 text-left hover:bg-raised"
        >
          <span aria-hidden="true" className={`text-muted ${props.isShown ? 'rotate-90' : ''}`}>
            ›
          </span>
          <code className="min-w-0 flex-1 truncate font-mono text-xs">
            <bdi>{command}</bdi>
          </code>
        </button>
        <span
          className={`shrink-0 text-xs ${isRunning ? 'text-good' : hasFailed ? 'text-bad' : 'text-muted'}`}
        >
          {stateOf(process)}
        </span>
        <span className="hidden w-24 shrink-0 text-right text-xs text-muted sm:block">
          <RelativeTime at={process.endedAt ?? process.startedAt} />
        </span>
        {isRunning ? (
          <RowMenu
            label={`Signals for ${command.slice(0, 80)}`}
            items={[
              ...signals.map(({ name, label }) => ({ label, onSelect: () => void send(name) })),
              { label: 'Kill with all it started', isDanger: true, onSelect: () => void send('KILL') },
            ]}
          />
        ) : (
          <span className="size-9 shrink-0" />
        )}
      </div>
      {props.isShown && props.children}
    </li>
  )
}
