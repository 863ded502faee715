import type { Installation } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { FolderGit2 } from 'lucide-react'
import { installationsQuery } from '../../api/github-queries.ts'
import { configQuery, meQuery } from '../../api/queries.ts'
import { Notice } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Empty } from '../../components/empty.tsx'
import { NoOrganization } from '../../components/no-organization.tsx'
import { Page, Panel } from '../../components/page.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { WorkspaceError } from '../../components/workspace-error.tsx'
import { WorkspaceSelect } from '../../components/workspace-select.tsx'
import { useCurrentOrganization } from '../../lib/current-organization.ts'
import { useAction } from '../../lib/use-action.ts'
import { useChosenWorkspace } from '../../lib/use-chosen-workspace.ts'
import { visibleName } from '../../lib/visible-text.ts'
import { AppSection } from './app-section.tsx'
import { startLink } from './start-link.ts'

const route = getRouteApi('/shell/github')
const namesShown = 5

/** The repositories that are linked to a workspace, and the App of the instance. */
export function GithubPage() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const { workspaces, workspace, workspaceId, isAdmin } = useChosenWorkspace(search.workspace)
  const { hasNone } = useCurrentOrganization()
  const { data: me } = useQuery(meQuery)
  const { data: config } = useQuery(configQuery)
  const { data, error } = useQuery(installationsQuery(workspaceId))
  const { busy, run } = useAction()
  const needsApp = config?.githubAppConfigured === false
  const connect = workspace && (
    <Button
      look="primary"
      busy={busy === 'link'}
      disabled={!isAdmin || config?.githubAppConfigured !== true}
      title={
        isAdmin
          ? needsApp
            ? 'This instance has no GitHub App yet.'
            : undefined
          : 'Only admins of the organization link repositories.'
      }
      onClick={() => run('link', () => startLink(workspace.id))}
    >
      Connect repositories
    </Button>
  )
  return (
    <Page
      title="GitHub"
      text="Repositories of a workspace. People who may write to one mention the App in an issue, and an agent works on it."
      actions={data && data.length > 0 && connect}
    >
      {needsApp && !me?.instanceAdmin && (
        <Notice tone="wait">This instance has no GitHub App. Ask the people who run it to make one.</Notice>
      )}
      <WorkspaceSelect
        workspaces={workspaces}
        workspace={workspace}
        onChoose={(id) => void navigate({ to: '/github', search: { workspace: id } })}
      />
      {error && <WorkspaceError error={error} isKnown={workspace !== undefined} />}
      {hasNone && <NoOrganization subject="Repositories" />}
      {!data && !error && !hasNone && <Skeleton />}
      {data?.length === 0 && (
        <Empty
          title="No repository is linked"
          icon={<FolderGit2 size={18} />}
          text={
            needsApp && me?.instanceAdmin
              ? 'Make the GitHub App of this instance first, below. Then you choose among the repositories that you administer.'
              : 'GitHub asks you who you are. Then you choose among the repositories that you administer.'
          }
        >
          {connect}
        </Empty>
      )}
      {data && data.length > 0 && workspace && (
        <Panel>
          <Rows label="Installations">
            {data.map((each) => (
              <InstallationRow key={each.id} installation={each} />
            ))}
          </Rows>
        </Panel>
      )}
      {me?.instanceAdmin && <AppSection />}
    </Page>
  )
}

function InstallationRow({ installation }: { installation: Installation }) {
  const { id, workspaceId, repos, agent } = installation
  const more = repos.length - namesShown
  return (
    <Row
      title={
        <Link
          to="/github/installations/$id"
          params={{ id }}
          search={{ workspace: workspaceId }}
          className="hover:underline"
        >
          <bdi>{repos.slice(0, namesShown).map(visibleName).join(', ') || 'No repository'}</bdi>
          {more > 0 && <> and {more} more</>}
        </Link>
      }
      text={`Agent: ${visibleName(agent)}`}
    >
      <Link to="/runs" search={{ workspace: workspaceId }} className="text-sm text-accent underline">
        Runs
      </Link>
    </Row>
  )
}
