import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { dockQuery } from '../../api/queries.ts'
import { ErrorAlert, Notice } from '../../components/alert.tsx'
import { laterPart } from '../../components/later-part.tsx'
import { Page } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TabLinks, tabClass } from '../../components/tabs.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { visibleLines, visibleName } from '../../lib/visible-text.ts'
import { ConnectTab } from './connect-tab.tsx'
import { DockActions } from './dock-actions.tsx'
import { type DockTab, dockTabs } from './dock-tabs.ts'
import { LastStop } from './last-stop.tsx'
import { PortsTab } from './ports-tab.tsx'
import { TimelineTab } from './timeline-tab.tsx'

const route = getRouteApi('/shell/docks/$id')
const waiting = <p className="m-0 text-sm text-muted">Loading…</p>
const TerminalTab = laterPart(async () => (await import('./terminal-tab.tsx')).TerminalTab, { waiting })
const FilesTab = laterPart(async () => (await import('./files/files-tab.tsx')).FilesTab, { waiting })
const ProcessesTab = laterPart(async () => (await import('./processes/processes-tab.tsx')).ProcessesTab, {
  waiting,
})
const SettingsTab = laterPart(async () => (await import('./settings/settings-tab.tsx')).SettingsTab, {
  waiting,
})
const SnapshotList = laterPart(async () => (await import('../snapshots/snapshot-list.tsx')).SnapshotList, {
  waiting,
})
const OverviewTab = laterPart(async () => (await import('./overview-tab.tsx')).OverviewTab, { waiting })

/** States of a Dock that says why it is in them. */
const saysWhy: ReadonlySet<string> = new Set(['archiving', 'archived', 'error', 'unreachable'])

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
  const back = (
    <Link to="/" search={{}}>
      Docks
    </Link>
  )
  if (!dock)
    return (
      <Page title="Dock" back={back}>
        <Pending error={error} />
      </Page>
    )
  return (
    <Page
      wide
      title={visibleName(dock.name ?? dock.id)}
      back={back}
      badges={
        <>
          <StateBadge state={dock.state} />
          <span className="text-xs text-muted">
            <RelativeTime at={dock.stateChangedAt} />
          </span>
        </>
      }
      actions={<DockActions dock={dock} />}
    >
      {error && <ErrorAlert error={error} />}
      {saysWhy.has(dock.state) && <LastStop dock={dock} />}
      {dock.setupStatus === 'failed' && (
        <Notice tone="wait">
          <p className="m-0">The Dock runs, but its setup is not complete. Finish it in a terminal.</p>
          {dock.setupError !== null && (
            <p className="m-0 whitespace-pre-wrap break-words font-mono text-xs">
              {visibleLines(dock.setupError)}
            </p>
          )}
        </Notice>
      )}
      <TabLinks label="Parts of the Dock">
        {dockTabs.map((each) => (
          <Link
            key={each}
            to="/docks/$id"
            params={{ id }}
            search={{ tab: each }}
            aria-current={each === tab ? 'page' : undefined}
            className={tabClass}
          >
            {names[each]}
          </Link>
        ))}
      </TabLinks>
      {tab === 'terminal' && <TerminalTab key={dock.id} dock={dock} />}
      {tab === 'files' && <FilesTab dock={dock} />}
      {tab === 'processes' && <ProcessesTab dock={dock} />}
      {tab === 'settings' && <SettingsTab dock={dock} />}
      {tab === 'overview' && <OverviewTab dock={dock} />}
      {tab === 'timeline' && <TimelineTab dockId={id} />}
      {tab === 'snapshots' && (
        <SnapshotList dockId={id} emptyText="Stop the Dock, and its disk is kept as a Snapshot." />
      )}
      {tab === 'ports' && <PortsTab dock={dock} />}
      {tab === 'connect' && <ConnectTab dock={dock} />}
    </Page>
  )
}
