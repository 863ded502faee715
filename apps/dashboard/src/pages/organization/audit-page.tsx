import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { membersQuery } from '../../api/people-queries.ts'
import { visibleName } from '../../lib/visible-text.ts'
import { AuditLog } from '../audit/audit-log.tsx'
import { useOrganization } from './use-organization.ts'

const route = getRouteApi('/shell/organization/$orgId/audit')

/** Who did what in the organization, for its owners. */
export function AuditPage() {
  const { orgId } = useOrganization()
  const search = route.useSearch()
  const navigate = useNavigate()
  const members = useQuery(membersQuery(orgId))
  return (
    <AuditLog
      organizationId={orgId}
      members={(members.data ?? []).map(({ userId, name, email }) => ({
        id: userId,
        name: visibleName(name || email),
      }))}
      search={search}
      onSearch={(wanted) =>
        void navigate({ to: '/organization/$orgId/audit', params: { orgId }, search: wanted })
      }
    />
  )
}
