import type { Installation } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { installationQuery } from '../../api/github-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Page, Panel } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { countOf } from '../../lib/count-of.ts'
import { useChosenWorkspace } from '../../lib/use-chosen-workspace.ts'
import { visibleName } from '../../lib/visible-text.ts'
import { InstallationForm } from './installation-form.tsx'

const route = getRouteApi('/shell/github/installations/$id')

/** One installation: its repositories, how its Runs work, and its end. */
export function InstallationPage() {
  const { id } = route.useParams()
  const search = route.useSearch()
  const { workspaceId, organization, isAdmin } = useChosenWorkspace(search.workspace)
  const { data, error } = useQuery(installationQuery(workspaceId, id))
  const repos = data?.installation.repos ?? []
  return (
    <Page
      title={data ? repos.map(visibleName).join(', ').slice(0, 100) || 'No repository' : 'Installation'}
      back={
        <Link to="/github" search={{ workspace: search.workspace }}>
          GitHub
        </Link>
      }
    >
      {error && <ErrorAlert error={error} />}
      {!data && !error && <Skeleton />}
      {data && organization && (
        <>
          <Panel title="Repositories" text="To add more, connect repositories on the page GitHub.">
            <div className="flex flex-wrap gap-1.5">
              {repos.map((repo) => (
                <Badge key={repo}>{visibleName(repo)}</Badge>
              ))}
            </div>
          </Panel>
          <InstallationForm
            key={data.installation.updatedAt}
            installation={data.installation}
            settings={data.settings}
            organizationId={organization.id}
            isAdmin={isAdmin}
          />
          <Unlink installation={data.installation} isAdmin={isAdmin} />
        </>
      )}
    </Page>
  )
}

function Unlink({ installation, isAdmin }: { installation: Installation; isAdmin: boolean }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [asks, setAsks] = useState(false)
  const { id, workspaceId, repos } = installation
  return (
    <Panel
      danger
      title="Unlink"
      text="Its repositories start no more Runs, and its Runs are stopped. At GitHub, nothing changes."
    >
      <Button
        look="danger"
        className="justify-self-start"
        disabled={!isAdmin}
        title={isAdmin ? undefined : 'Only admins unlink repositories.'}
        onClick={() => setAsks(true)}
      >
        Unlink
      </Button>
      <ConfirmDialog
        title="Unlink these repositories?"
        description={`${countOf(repos.length, 'repository leaves', 'repositories leave')} the workspace, and their Runs are stopped. You can link them again.`}
        name={visibleName(repos[0] ?? 'unlink')}
        action="Unlink"
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={async () => {
          await api.call('unlinkInstallation', { params: { id }, query: { workspaceId } })
          await navigate({ to: '/github', search: { workspace: workspaceId } })
          await client.invalidateQueries({ queryKey: ['installation'] })
        }}
      />
    </Panel>
  )
}
