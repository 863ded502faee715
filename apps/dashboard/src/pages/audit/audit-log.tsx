import { auditActor } from '@dock/sdk/audit-words'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ScrollText } from 'lucide-react'
import { auditExportUrl, auditQuery } from '../../api/audit-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { ButtonLink } from '../../components/button-link.tsx'
import { Empty } from '../../components/empty.tsx'
import { MoreButton } from '../../components/more-button.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { visibleName } from '../../lib/visible-text.ts'
import type { AuditSearch } from '../../routes/audit-search.ts'
import { AuditFilters, type Person } from './audit-filters.tsx'
import { AuditTable } from './audit-table.tsx'
import { useExistingTargets } from './use-existing-targets.ts'

/** Who did what in an organization, or on the instance if it is null. `members` are people whom the filter always offers. */
export function AuditLog(props: {
  organizationId: string | null
  members: readonly Person[]
  search: AuditSearch
  onSearch: (search: AuditSearch) => void
}) {
  const { organizationId, members, search, onSearch } = props
  const listed = useInfiniteQuery(auditQuery(organizationId, search))
  const pages = listed.data?.pages ?? []
  const entries = pages.flatMap((page) => page.entries)
  const existing = useExistingTargets(organizationId, pages)
  // Until the first page is there, nobody knows whether the person may read the log, so there is nothing to filter or export.
  if (!listed.data) return listed.error ? <ErrorAlert error={listed.error} /> : <Skeleton lines={6} />
  const people = new Map(members.map(({ id, name }) => [id, name]))
  for (const entry of entries)
    if (entry.actor && !people.has(entry.actor.id)) people.set(entry.actor.id, visibleName(auditActor(entry)))
  if (search.person !== undefined && !people.has(search.person))
    people.set(search.person, `Person ${search.person.slice(0, 8)}`)
  const hasFilter = Object.values(search).some((value) => value !== undefined)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div className="flex flex-wrap items-end justify-between gap-x-4 gap-y-2">
        <AuditFilters
          search={search}
          people={[...people].map(([id, name]) => ({ id, name }))}
          onChange={(part) => onSearch({ ...search, ...part })}
        />
        <ButtonLink href={auditExportUrl(organizationId, search)} download>
          Export
        </ButtonLink>
      </div>
      {listed.error && <ErrorAlert error={listed.error} />}
      {entries.length === 0 && (
        <Empty
          title={hasFilter ? 'No entry matches' : 'No entries yet'}
          icon={<ScrollText size={18} />}
          text={hasFilter ? 'Change the filters above.' : 'What people do from now on is listed here.'}
        />
      )}
      {entries.length > 0 && (
        <AuditTable entries={entries} organizationId={organizationId} existing={existing} />
      )}
      <MoreButton pages={listed}>Show older entries</MoreButton>
    </div>
  )
}
