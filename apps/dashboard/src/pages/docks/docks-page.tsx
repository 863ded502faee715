import { readyDockStates, searchLengthMax } from '@dock/sdk/dashboard-rules'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { dockListQuery } from '../../api/dock-list.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { buttonClass } from '../../components/button.tsx'
import { Empty } from '../../components/empty.tsx'
import { bareControlClass } from '../../components/field.tsx'
import { laterPart } from '../../components/later-part.tsx'
import { NoOrganization } from '../../components/no-organization.tsx'
import { Page } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { Segments } from '../../components/tabs.tsx'
import { useCurrentOrganization } from '../../lib/current-organization.ts'
import { wordOf } from '../../lib/dock-states.ts'
import { DockList } from './dock-list.tsx'
import { NewDockButton } from './new-dock-button.tsx'

const SelectionBar = laterPart(async () => (await import('./selection-bar.tsx')).SelectionBar)

const route = getRouteApi('/shell/')

const filters = [
  { label: 'All', value: '' },
  // A Dock that sleeps runs, and takes commands.
  { label: wordOf('running'), value: readyDockStates.join(',') },
  { label: wordOf('archived'), value: 'archived' },
  { label: `${wordOf('error')} or ${wordOf('unreachable').toLowerCase()}`, value: 'error,unreachable' },
] as const

const searchAfterMs = 150

export function DocksPage() {
  const { q, states } = route.useSearch()
  const navigate = useNavigate()
  const [typed, setTyped] = useState(q ?? '')
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const { organization, hasNone } = useCurrentOrganization()
  const docks = useInfiniteQuery({
    ...dockListQuery({ q, states, organizationId: organization?.id }),
    // Until the organization is known, the list would be that of all of them.
    enabled: organization !== undefined || hasNone,
  })
  const { fetchNextPage } = docks
  const found = docks.data?.pages.flatMap((page) => page.docks) ?? []

  useEffect(() => {
    if (typed === (q ?? '')) return
    const timer = setTimeout(() => {
      void navigate({ to: '/', search: { q: typed || undefined, states }, replace: true })
    }, searchAfterMs)
    return () => clearTimeout(timer)
  }, [typed, q, states, navigate])

  const showMore = useCallback(() => void fetchNextPage(), [fetchNextPage])
  const select = (id: string, isSelected: boolean): void =>
    setSelected((before) => new Set(isSelected ? [...before, id] : [...before].filter((each) => each !== id)))
  // biome-ignore lint/correctness/useExhaustiveDependencies: another organization has other Docks.
  useEffect(() => setSelected(new Set()), [organization?.id])
  const chosen = found.filter(({ id }) => selected.has(id))
  const hasFilter = q !== undefined || states !== undefined

  return (
    <Page
      wide
      title="Docks"
      actions={
        <NewDockButton>
          <Link to="/docks/new" search={{}} className={buttonClass()}>
            More options
          </Link>
        </NewDockButton>
      }
    >
      <div className="flex flex-wrap items-center gap-2">
        <input
          type="search"
          aria-label="Search by name or id"
          placeholder="Search by name or id"
          value={typed}
          maxLength={searchLengthMax}
          onChange={({ target }) => setTyped(target.value)}
          className={`min-w-0 flex-1 basis-56 ${bareControlClass}`}
        />
        <Segments
          label="State"
          value={states ?? ''}
          options={filters}
          onChange={(chosen) => void navigate({ to: '/', search: { q, states: chosen || undefined } })}
        />
      </div>
      {chosen.length > 0 && <SelectionBar docks={chosen} onDone={() => setSelected(new Set())} />}
      {docks.error && <ErrorAlert error={docks.error} />}
      {docks.isPending && !docks.error && <Skeleton lines={5} />}
      {docks.data && found.length === 0 && <NoDocks hasFilter={hasFilter} />}
      {found.length > 0 && (
        <DockList
          docks={found}
          hasMore={docks.hasNextPage && !docks.isFetchingNextPage}
          onMore={showMore}
          selected={selected}
          onSelect={select}
        />
      )}
    </Page>
  )
}

/** Says what to do next. */
function NoDocks({ hasFilter }: { hasFilter: boolean }) {
  const { hasNone } = useCurrentOrganization()
  if (hasFilter) return <Empty title="No Dock matches" text="Change the search or the state above." />
  if (hasNone) return <NoOrganization subject="Docks" />
  return (
    <Empty
      title="No Docks yet"
      text="A Dock is a Linux machine of your own. New Dock, above, starts one and opens its terminal; it keeps its disk when you stop it."
    />
  )
}
