import { getRouteApi, Link } from '@tanstack/react-router'
import { Page } from '../../components/page.tsx'
import { SnapshotList } from './snapshot-list.tsx'

const route = getRouteApi('/shell/snapshots')

/** The Snapshots of all Docks, or of the one in the address. */
export function SnapshotsPage() {
  const { dock } = route.useSearch()
  return (
    <Page
      title="Snapshots"
      text="What each Dock had on its disk when it stopped. Nothing wakes when you look into one."
      actions={
        dock !== undefined && (
          <Link to="/snapshots" search={{}} className="text-sm text-accent underline">
            Show those of all Docks
          </Link>
        )
      }
    >
      <SnapshotList
        key={dock}
        dockId={dock}
        emptyText="When a Dock stops, its disk is kept as a Snapshot. You can look into it, get files back, and compare two."
      />
    </Page>
  )
}
