import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { organizationQuery } from '../../api/people-queries.ts'
import { reaches } from '../../lib/roles.ts'

/** Returns the organization of the address, which the layout has read, and what the caller's role allows. */
export function useOrganization() {
  const { orgId } = useParams({ from: '/shell/organization/$orgId' })
  const { data: organization } = useQuery(organizationQuery(orgId))
  const role = organization?.role
  return { orgId, organization, isAdmin: reaches(role, 'admin'), isOwner: reaches(role, 'owner') }
}
