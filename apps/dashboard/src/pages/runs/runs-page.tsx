import type { Run } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Bot } from 'lucide-react'
import { useCallback, useState } from 'react'
import { installationsQuery, runsPageSize, runsQuery } from '../../api/github-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, buttonClass } from '../../components/button.tsx'
import { Empty } from '../../components/empty.tsx'
import { NoOrganization } from '../../components/no-organization.tsx'
import { OptionSelect } from '../../components/option-select.tsx'
import { Page } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { VirtualList } from '../../components/virtual-list.tsx'
import { WorkspaceError } from '../../components/workspace-error.tsx'
import { WorkspaceSelect } from '../../components/workspace-select.tsx'
import { useCurrentOrganization } from '../../lib/current-organization.ts'
import { useChosenWorkspace } from '../../lib/use-chosen-workspace.ts'
import { visibleName } from '../../lib/visible-text.ts'
import { runStates, stateNames, stateTones } from './run-texts.ts'
import { StartRunDialog } from './start-run-dialog.tsx'

const route = getRouteApi('/shell/runs')
const rowHeight = 60
const text = 'An agent works on an issue in a Dock, and opens a draft pull request for you to review.'

function Row({ run }: { run: Run }) {
  return (
    <div className="flex h-[60px] items-center gap-3 border-b border-line px-4 hover:bg-raised">
      <div className="min-w-0 flex-1">
        <p className="m-0 truncate text-sm font-medium">
          <Link to="/runs/$id" params={{ id: run.id }} className="hover:underline">
            <bdi>{visibleName(run.repo)}</bdi> #{run.issueNumber}
          </Link>
        </p>
        <p className="m-0 truncate text-xs text-muted">
          {run.agent}
          {run.prNumber !== null && <> · pull request #{run.prNumber}</>}
          {run.executionTarget === 'fast' && <> · fast</>}
        </p>
      </div>
      <Badge tone={stateTones[run.state]}>{stateNames[run.state]}</Badge>
      <span className="hidden w-24 shrink-0 truncate text-right text-xs text-muted sm:block">
        <RelativeTime at={run.createdAt} />
      </span>
    </div>
  )
}

/** The Runs of a workspace, newest first. */
export function RunsPage() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const { workspaces, workspace, workspaceId, isAdmin } = useChosenWorkspace(search.workspace)
  const { hasNone } = useCurrentOrganization()
  const [limit, setLimit] = useState(runsPageSize)
  const [starts, setStarts] = useState(false)
  const installations = useQuery(installationsQuery(workspaceId))
  const filter =
    workspaceId === undefined ? undefined : { workspaceId, state: search.state, repo: search.repo }
  const runs = useQuery(runsQuery(filter, limit))
  const repos = (installations.data ?? []).flatMap((each) => each.repos).toSorted()
  const showMore = useCallback(() => setLimit((shown) => shown + runsPageSize), [])
  const choose = (part: Partial<typeof search>): void => {
    setLimit(runsPageSize)
    void navigate({ to: '/runs', search: { ...search, ...part } })
  }
  const hasFilter = search.state !== undefined || search.repo !== undefined
  const error = runs.error ?? installations.error
  if (hasNone)
    return (
      <Page title="Runs" text={text}>
        <NoOrganization subject="Runs" />
      </Page>
    )
  return (
    <Page
      title="Runs"
      text={text}
      actions={
        isAdmin &&
        repos.length > 0 && (
          <Button look="primary" onClick={() => setStarts(true)}>
            Start a Run
          </Button>
        )
      }
    >
      <div className="flex flex-wrap gap-2">
        <WorkspaceSelect
          workspaces={workspaces}
          workspace={workspace}
          onChoose={(id) => choose({ workspace: id, repo: undefined })}
        />
        <OptionSelect
          label="State"
          isLabelHidden
          className="w-44"
          value={search.state ?? 'all'}
          options={[
            { value: 'all', label: 'All states' },
            ...runStates.map((state) => ({ value: state, label: stateNames[state] })),
          ]}
          onChange={(state) => choose({ state: state === 'all' ? undefined : state })}
        />
        <OptionSelect
          label="Repository"
          isLabelHidden
          className="w-56"
          value={search.repo ?? ''}
          options={[
            { value: '', label: 'All repositories' },
            // A repository of the address that is no longer linked still has Runs.
            ...[...new Set([...repos, ...(search.repo === undefined ? [] : [search.repo])])].map((repo) => ({
              value: repo,
              label: visibleName(repo),
            })),
          ]}
          onChange={(repo) => choose({ repo: repo || undefined })}
        />
      </div>
      {error && <WorkspaceError error={error} isKnown={workspace !== undefined} />}
      {runs.isPending && !error && <Skeleton lines={5} />}
      {runs.data?.length === 0 && (
        <Empty
          title={hasFilter ? 'No Run matches' : 'No Runs yet'}
          icon={<Bot size={18} />}
          text={
            hasFilter
              ? 'Change the filters above.'
              : repos.length > 0
                ? 'Mention the GitHub App in an issue of a linked repository.'
                : 'Link repositories of GitHub first. Then mention the GitHub App in an issue.'
          }
        >
          {!hasFilter && repos.length === 0 && (
            <Link to="/github" search={{ workspace: search.workspace }} className={buttonClass()}>
              Connect GitHub
            </Link>
          )}
        </Empty>
      )}
      {runs.data && runs.data.length > 0 && (
        <VirtualList
          label="Runs"
          items={runs.data}
          keyOf={({ id }) => id}
          rowHeight={rowHeight}
          hasMore={runs.data.length === limit && !runs.isPlaceholderData}
          onMore={showMore}
        >
          {(run) => <Row run={run} />}
        </VirtualList>
      )}
      {starts && workspace && <StartRunDialog workspaceId={workspace.id} onClose={() => setStarts(false)} />}
    </Page>
  )
}
