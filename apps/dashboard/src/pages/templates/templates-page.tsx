import type { ListedTemplate } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, repeatIfBroken } from '../../api/client.ts'
import { listedTemplatesQuery } from '../../api/snapshot-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { buttonClass } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Empty } from '../../components/empty.tsx'
import { Page } from '../../components/page.tsx'
import { RefusableButton } from '../../components/refusable-button.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { useCurrentOrganization } from '../../lib/current-organization.ts'
import { formatBytes } from '../../lib/format.ts'
import { reaches } from '../../lib/roles.ts'
import { visibleName } from '../../lib/visible-text.ts'

const looks = { ready: 'text-good', saving: 'text-wait', failed: 'text-bad' } as const

function Row({
  template,
  organization,
  deleteRefusal,
  onDelete,
}: {
  template: ListedTemplate
  organization: string
  deleteRefusal: string | undefined
  onDelete: () => void
}) {
  const source = visibleName(template.sourceDockName ?? template.sourceDockId ?? '')
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-3 py-3 last:border-b-0">
      <div className="min-w-0 flex-1 basis-60">
        <p className="m-0 truncate text-sm font-medium">
          {template.name}{' '}
          <span className={`text-xs font-normal ${looks[template.status]}`}>{template.status}</span>
        </p>
        <p className="m-0 text-xs text-muted">
          {template.sourceDockName !== null && template.sourceDockId !== null ? (
            <>
              From{' '}
              <Link to="/docks/$id" params={{ id: template.sourceDockId }} search={{}} className="underline">
                <bdi>{source}</bdi>
              </Link>
            </>
          ) : (
            'From a Dock that is gone'
          )}
          {template.createdBy && (
            <>
              {' '}
              by <bdi>{visibleName(template.createdBy.name)}</bdi>
            </>
          )}
          , <RelativeTime at={template.createdAt} />
        </p>
        <p className="m-0 truncate text-xs text-muted">
          {template.image} · {template.diskGiB} GiB disk
          {template.status === 'ready' && ` · ${formatBytes(template.sizeBytes)}`} · <bdi>{organization}</bdi>
        </p>
      </div>
      <div className="flex gap-2">
        {template.status === 'ready' && (
          <Link to="/docks/new" search={{ from: template.name }} className={buttonClass()}>
            New Dock
          </Link>
        )}
        <RefusableButton
          look="danger"
          refusal={deleteRefusal}
          disabled={template.status === 'saving'}
          onClick={onDelete}
        >
          Delete
        </RefusableButton>
      </div>
    </li>
  )
}

/** The Templates of the organization: where each came from, and Docks from it. */
export function TemplatesPage() {
  const client = useQueryClient()
  const templates = useQuery(listedTemplatesQuery)
  const { organization } = useCurrentOrganization()
  const shown = templates.data?.filter(({ organizationId }) => organizationId === organization?.id) ?? []
  const [asked, setAsked] = useState<ListedTemplate>()
  return (
    <Page title="Templates" text="Disks from which new Docks start, each frozen from a Dock.">
      {templates.error && <ErrorAlert error={templates.error} />}
      {templates.isPending && !templates.error && <p className="m-0 text-sm text-muted">Loading…</p>}
      {templates.data && shown.length === 0 && (
        <Empty
          title="No Templates yet"
          text="Set up a Dock as you like it, and freeze it in its settings. New Docks then start from its disk."
        />
      )}
      {shown.length > 0 && (
        <ul aria-label="Templates" className="m-0 list-none rounded-lg border border-line bg-panel p-0">
          {shown.map((template) => (
            <Row
              key={template.id}
              template={template}
              organization={organization?.name ?? ''}
              deleteRefusal={
                reaches(organization?.role, 'admin')
                  ? undefined
                  : 'Only admins of the organization may delete Templates.'
              }
              onDelete={() => setAsked(template)}
            />
          ))}
        </ul>
      )}
      {asked && (
        <ConfirmDialog
          title={`Delete the Template ${asked.name}?`}
          description="No new Docks can start from it. Docks that did are not changed."
          name={asked.name}
          action="Delete"
          open
          onClose={() => setAsked(undefined)}
          onConfirm={async () => {
            const { organizationId, name } = asked
            await repeatIfBroken(() =>
              api.call('deleteTemplate', { params: { name }, query: { organizationId } }),
            )
            await client.invalidateQueries({ queryKey: ['template'] })
          }}
        />
      )}
    </Page>
  )
}
