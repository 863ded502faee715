/** What the palette can do with Docks: by the state of each, and by what the person may do. */
import type { ListedDock } from '@dock/sdk'
import { useNavigate } from '@tanstack/react-router'
import { Box, GitBranch, Play, Plug, Settings, Square, SquareTerminal, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { api, repeatIfBroken } from '../../api/client.ts'
import { showToast } from '../../components/toasts.tsx'
import type { usePerson } from '../../lib/dock-rights.ts'
import { canResume, canStop, isReady } from '../../lib/dock-states.ts'
import { mayDelete } from '../../lib/may-delete.ts'
import { visibleName } from '../../lib/visible-text.ts'

export const iconProps = {
  size: 16,
  strokeWidth: 1.8,
  'aria-hidden': true,
  className: 'shrink-0 text-muted',
} as const

/** `work` runs after the palette has closed. */
export type DockAction = { key: string; verb: string; label: string; icon: ReactNode; work: () => unknown }

/** Returns a function that lists the actions of a Dock. `askDelete` asks before it deletes. */
export function useDockActions(
  person: ReturnType<typeof usePerson>,
  askDelete: (dock: ListedDock) => void,
): (dock: ListedDock) => DockAction[] {
  const navigate = useNavigate()
  return (dock) => {
    const { id, state } = dock
    const name = visibleName(dock.name ?? id)
    const params = { id }
    const open = (tab?: 'terminal' | 'ports' | 'settings') => () =>
      navigate({ to: '/docks/$id', params, search: tab === undefined ? {} : { tab } })
    const action = (verb: string, label: string, icon: ReactNode, work: () => unknown): DockAction => ({
      key: `${verb} ${id}`,
      verb,
      label,
      icon,
      work,
    })
    return [
      action('open', `Open ${name}`, <Box {...iconProps} />, open()),
      ...(isReady(state)
        ? [
            action(
              'terminal',
              `Open a terminal in ${name}`,
              <SquareTerminal {...iconProps} />,
              open('terminal'),
            ),
            action('ports', `Ports of ${name}`, <Plug {...iconProps} />, open('ports')),
          ]
        : []),
      ...(canStop(state)
        ? [
            action('stop', `Stop ${name}`, <Square {...iconProps} />, async () => {
              showToast(`Stopping ${name}`)
              await repeatIfBroken(() => api.call('stopDock', { params, body: {} }))
              showToast(`${name} is stopped`)
            }),
          ]
        : []),
      ...(canResume(state)
        ? [
            action('resume', `Resume ${name}`, <Play {...iconProps} />, async () => {
              showToast(`Resuming ${name}`)
              await repeatIfBroken(() => api.call('resumeDock', { params, body: {} }))
              await open('terminal')()
            }),
          ]
        : []),
      ...(isReady(state) || canResume(state)
        ? [
            action('branch', `Branch ${name}`, <GitBranch {...iconProps} />, async () => {
              showToast(`Branching ${name}`)
              const made = await api.call('branchDock', { params, body: {} })
              await navigate({ to: '/docks/$id', params: { id: made.id }, search: { tab: 'terminal' } })
            }),
          ]
        : []),
      action('settings', `Settings of ${name}`, <Settings {...iconProps} />, open('settings')),
      ...(person && mayDelete(dock, person)
        ? [action('delete', `Delete ${name}…`, <Trash2 {...iconProps} />, () => askDelete(dock))]
        : []),
    ]
  }
}

/** The verbs that people type, and other words for them. */
const verbs: Readonly<Record<string, readonly string[]>> = {
  stop: ['stop', 'archive', 'shut'],
  resume: ['resume', 'start', 'boot', 'wake'],
  branch: ['branch', 'copy', 'clone', 'fork'],
  delete: ['delete', 'remove', 'rm'],
  terminal: ['terminal', 'shell', 'ssh', 'console'],
  ports: ['ports', 'port'],
  settings: ['settings', 'rename', 'resize'],
  open: ['open'],
}

/** Splits `stop web` into the verb `stop` and what follows. A word that begins a verb counts from three letters on. */
export function parseWanted(wanted: string): { verb: string | undefined; rest: string } {
  const [first = '', ...others] = wanted.split(/\s+/)
  const found = Object.entries(verbs).find(([, words]) =>
    words.some((word) => word === first || (first.length >= 3 && word.startsWith(first))),
  )
  return found ? { verb: found[0], rest: others.join(' ') } : { verb: undefined, rest: wanted }
}
