import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { environmentQuery, organizationQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { buttonClass } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { TabLinks, tabClass } from '../../components/tabs.tsx'
import { chooseOrganization } from '../../lib/current-organization.ts'
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
  // The list to which one goes back is of the chosen organization.
  useEffect(() => {
    if (organizationId !== undefined) chooseOrganization(organizationId)
  }, [organizationId])
  const back = (
    <Link to="/environments">
      {organization.data ? `${organization.data.name} / Environments` : 'Environments'}
    </Link>
  )
  if (!environment || !organization.data)
    return (
      <Page title="Environment" back={back}>
        <Pending error={error ?? organization.error} />
      </Page>
    )
  const Tab = tabs[tab]
  return (
    <Page
      title={environment.name}
      back={back}
      badges={
        <>
          {environment.isDefault && <Badge>default</Badge>}
          <Badge>version {environment.currentVersion}</Badge>
        </>
      }
      actions={
        <Link to="/docks/new" search={{ environment: id }} className={buttonClass()}>
          New Dock with it
        </Link>
      }
    >
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
    </Page>
  )
}
