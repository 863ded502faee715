import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { environmentQuery, organizationQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Pending } from '../../components/pending.tsx'
import { TabLinks, tabClass } from '../../components/tabs.tsx'
import { reaches } from '../../lib/roles.ts'
import { ContentsTab } from './contents-tab.tsx'
import { environmentTabNames, environmentTabs } from './environment-tabs.ts'
import { PostureTab } from './posture-tab.tsx'
import { RepositoriesTab } from './repositories-tab.tsx'
import { EnvironmentSettingsTab } from './settings-tab.tsx'
import { VersionsTab } from './versions-tab.tsx'

const route = getRouteApi('/shell/environments/$id')

const tabs = {
  contents: ContentsTab,
  repositories: RepositoriesTab,
  posture: PostureTab,
  versions: VersionsTab,
  settings: EnvironmentSettingsTab,
} as const

/** One Environment. */
export function EnvironmentPage() {
  const { id } = route.useParams()
  const { tab = 'contents' } = route.useSearch()
  const { data: environment, error } = useQuery(environmentQuery(id))
  const organizationId = environment?.organizationId
  const organization = useQuery({
    ...organizationQuery(organizationId ?? ''),
    enabled: organizationId !== undefined,
  })
  if (!environment || !organization.data)
    return (
      <main className="mx-auto grid max-w-5xl gap-4 p-4">
        <Pending error={error ?? organization.error} />
      </main>
    )
  const Tab = tabs[tab]
  return (
    <main className="mx-auto grid max-w-5xl gap-4 p-4">
      <div className="grid gap-1">
        <Link
          to="/environments"
          search={{ organization: environment.organizationId }}
          className="text-sm text-muted hover:text-ink"
        >
          {organization.data.name} / Environments
        </Link>
        <div className="flex flex-wrap items-center gap-2">
          <h1 className="m-0 text-xl font-semibold">{environment.name}</h1>
          {environment.isDefault && <Badge>default</Badge>}
          <Badge>version {environment.currentVersion}</Badge>
        </div>
      </div>
      <TabLinks label="Parts of the Environment">
        {environmentTabs.map((each) => (
          <Link
            key={each}
            to="/environments/$id"
            params={{ id }}
            search={{ tab: each }}
            aria-current={each === tab ? 'page' : undefined}
            className={tabClass}
          >
            {environmentTabNames[each]}
          </Link>
        ))}
      </TabLinks>
      <Tab environment={environment} isAdmin={reaches(organization.data.role, 'admin')} />
    </main>
  )
}
