import type { AuditPage } from '@dock/sdk'
import { useQueries, useQuery } from '@tanstack/react-query'
import { existingDocksQuery } from '../../api/audit-queries.ts'
import { templatesQuery } from '../../api/dock-queries.ts'
import { hostsQuery, webhooksQuery } from '../../api/operator-queries.ts'
import { environmentsQuery, membersQuery } from '../../api/people-queries.ts'
import { organizationsQuery, workspacesQuery } from '../../api/queries.ts'

type Listed = readonly { id: string }[] | undefined

/** The targets that still exist and have a page: ids by type. */
export type ExistingTargets = Readonly<Record<string, ReadonlySet<string>>>

const idsOf = (listed: Listed): ReadonlySet<string> => new Set(listed?.map(({ id }) => id))

/** Returns which targets of the entries still exist. A list is read only if an entry has a target of its type. */
export function useExistingTargets(
  organizationId: string | null,
  pages: readonly AuditPage[],
): ExistingTargets {
  const targets = pages.flatMap(({ entries }) => entries.map(({ target }) => target))
  const has = (type: string): boolean => targets.some((target) => target?.type === type)
  const ofOrganization = (type: string) => ({ enabled: organizationId !== null && has(type) })
  const id = organizationId ?? ''
  const docks = useQueries({
    queries: pages.map(({ entries }) =>
      existingDocksQuery([
        ...new Set(
          entries.flatMap(({ target }) => (target?.type === 'dock' && target.id ? [target.id] : [])),
        ),
      ]),
    ),
  })
  const members = useQuery({ ...membersQuery(id), ...ofOrganization('person') })
  const environments = useQuery({ ...environmentsQuery(id), ...ofOrganization('environment') })
  const workspaces = useQuery({ ...workspacesQuery(id), ...ofOrganization('workspace') })
  const webhooks = useQuery({ ...webhooksQuery(id), ...ofOrganization('webhook') })
  const templates = useQuery({ ...templatesQuery, ...ofOrganization('template') })
  const hosts = useQuery({ ...hostsQuery, enabled: organizationId === null && has('host') })
  const organizations = useQuery({ ...organizationsQuery, enabled: has('organization') })
  return {
    dock: new Set(docks.flatMap(({ data }) => data ?? [])),
    person: new Set(members.data?.map(({ userId }) => userId)),
    environment: idsOf(environments.data),
    workspace: idsOf(workspaces.data),
    webhook: idsOf(webhooks.data),
    template: idsOf(templates.data),
    host: idsOf(hosts.data),
    organization: idsOf(organizations.data),
  }
}
