import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Page } from '../../components/page.tsx'
import { AuditLog } from './audit-log.tsx'

const route = getRouteApi('/shell/audit')

/** Who did what in all organizations, and on the instance itself. */
export function InstanceAuditPage() {
  const search = route.useSearch()
  const navigate = useNavigate()
  return (
    <Page title="Audit log" text="Who did what on this instance. Entries are kept for 400 days." wide>
      <AuditLog
        organizationId={null}
        members={[]}
        search={search}
        onSearch={(wanted) => void navigate({ to: '/audit', search: wanted })}
      />
    </Page>
  )
}
