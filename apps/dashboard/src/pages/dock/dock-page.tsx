import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { dockQuery } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { visibleName } from '../../lib/visible-text.ts'
import { ConnectTab } from './connect-tab.tsx'
import { DockActions } from './dock-actions.tsx'
import { type DockTab, dockTabs } from './dock-tabs.ts'
import { PortsTab } from './ports-tab.tsx'
import { SnapshotsTab } from './snapshots-tab.tsx'
import { TimelineTab } from './timeline-tab.tsx'

const route = getRouteApi('/shell/docks/$id')
const TerminalTab = lazy(() =>
  import('./terminal-tab.tsx').then(({ TerminalTab }) => ({ default: TerminalTab })),
)
const FilesTab = lazy(() => import('./files/files-tab.tsx').then(({ FilesTab }) => ({ default: FilesTab })))
const ProcessesTab = lazy(() =>
  import('./processes/processes-tab.tsx').then(({ ProcessesTab }) => ({ default: ProcessesTab })),
)
const SettingsTab = lazy(() =>
  import('./settings/settings-tab.tsx').then(({ SettingsTab }) => ({ default: SettingsTab })),
)
const OverviewTab = lazy(() =>
  import('./overview-tab.tsx').then(({ OverviewTab }) => ({ default: OverviewTab })),
)

const names: Record<DockTab, string> = {
  terminal: 'Terminal',
  files: 'Files',
  processes: 'Processes',
  overview: 'Overview',
  timeline: 'Timeline',
  snapshots: 'Snapshots',
  ports: 'Ports',
  connect: 'Connect',
  settings: 'Settings',
}

export function DockPage() {
  const { id } = route.useParams()
  const { tab = 'terminal' } = route.useSearch()
  const { data: dock, error } = useQuery(dockQuery(id))
  if (!dock)
    return (
      <main className="mx-auto max-w-5xl p-4">
        {error ? <ErrorAlert error={error} /> : <p className="text-sm text-muted">Loading…</p>}
      </main>
    )
  return (
    <main className="mx-auto grid max-w-5xl gap-4 p-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="m-0 min-w-0 text-xl font-semibold">
          <bdi>{visibleName(dock.name ?? dock.id)}</bdi>
        </h1>
        <StateBadge state={dock.state} />
        <span className="text-xs text-muted">
          since <RelativeTime at={dock.stateChangedAt} />
        </span>
        <div className="ml-auto">
          <DockActions dock={dock} />
        </div>
      </div>
      {error && <ErrorAlert error={error} />}
      <nav aria-label="Parts of the Dock" className="flex gap-1 overflow-x-auto border-b border-line">
        {dockTabs.map((each) => (
          <Link
            key={each}
            to="/docks/$id"
            params={{ id }}
            search={{ tab: each }}
            aria-current={each === tab ? 'page' : undefined}
            className="shrink-0 whitespace-nowrap border-b-2 border-transparent px-3 py-2 text-sm text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink"
          >
            {names[each]}
          </Link>
        ))}
      </nav>
      <Suspense fallback={<p className="m-0 text-sm text-muted">Loading…</p>}>
        {tab === 'terminal' && <TerminalTab key={dock.id} dock={dock} />}
        {tab === 'files' && <FilesTab dock={dock} />}
        {tab === 'processes' && <ProcessesTab dock={dock} />}
        {tab === 'settings' && <SettingsTab dock={dock} />}
        {tab === 'overview' && <OverviewTab dock={dock} />}
        {tab === 'timeline' && <TimelineTab dockId={id} />}
        {tab === 'snapshots' && <SnapshotsTab dockId={id} />}
        {tab === 'ports' && <PortsTab dock={dock} />}
        {tab === 'connect' && <ConnectTab dock={dock} />}
      </Suspense>
    </main>
  )
}
