import { searchLengthMax } from '@dock/sdk/dashboard-rules'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useState } from 'react'
import { dockListQuery } from '../../api/dock-list.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Empty } from '../../components/empty.tsx'
import { Page } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { DockList } from './dock-list.tsx'
import { NewDockButton } from './new-dock-button.tsx'

const SelectionBar = lazy(() =>
  import('./selection-bar.tsx').then(({ SelectionBar }) => ({ default: SelectionBar })),
)

const route = getRouteApi('/shell/')

const filters = [
  { label: 'All', states: undefined },
  { label: 'On', states: 'ready,idle,running' },
  { label: 'Archived', states: 'archived' },
  { label: 'In trouble', states: 'error,unreachable' },
] as const

const searchAfterMs = 150

export function DocksPage() {
  const { q, states } = route.useSearch()
  const navigate = useNavigate()
  const [typed, setTyped] = useState(q ?? '')
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const docks = useInfiniteQuery(dockListQuery({ q, states }))
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
  const chosen = found.filter(({ id }) => selected.has(id))
  const hasFilter = q !== undefined || states !== undefined

  return (
    <Page
      title="Docks"
      actions={
        <>
          <Link to="/docks/new" search={{}} className="text-sm text-muted hover:text-ink hover:underline">
            More options
          </Link>
          <NewDockButton />
        </>
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
          className="h-9 min-w-0 flex-1 rounded-md border border-line bg-panel px-3 text-sm"
        />
        <fieldset aria-label="State" className="m-0 flex rounded-md border border-line bg-panel p-0.5">
          {filters.map((filter) => (
            <button
              key={filter.label}
              type="button"
              aria-pressed={states === filter.states}
              onClick={() => void navigate({ to: '/', search: { q, states: filter.states } })}
              className="h-8 cursor-pointer rounded px-2.5 text-sm aria-pressed:bg-raised aria-pressed:font-medium"
            >
              {filter.label}
            </button>
          ))}
        </fieldset>
      </div>
      {chosen.length > 0 && (
        <Suspense fallback={null}>
          <SelectionBar docks={chosen} onDone={() => setSelected(new Set())} />
        </Suspense>
      )}
      {docks.error && <ErrorAlert error={docks.error} />}
      {docks.isPending && !docks.error && <Skeleton lines={5} />}
      {docks.data && found.length === 0 && (
        <Empty
          title={hasFilter ? 'No Dock matches' : 'No Docks yet'}
          text={
            hasFilter
              ? 'Change the search or the state above.'
              : 'A Dock is a Linux machine of your own. It is ready in a moment, and keeps its disk when you stop it.'
          }
        />
      )}
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
