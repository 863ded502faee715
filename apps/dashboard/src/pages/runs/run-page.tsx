import type { Run } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { runCostQuery, runQuery } from '../../api/github-queries.ts'
import { organizationsQuery } from '../../api/queries.ts'
import { ErrorAlert, Notice } from '../../components/alert.tsx'
import { Badge } from '../../components/badge.tsx'
import { Meter } from '../../components/meter.tsx'
import { OutsideLink } from '../../components/outside-link.tsx'
import { Facts, Page, Panel } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { visibleLines, visibleName } from '../../lib/visible-text.ts'
import { RunActions } from './run-actions.tsx'
import { RunLog } from './run-log.tsx'
import { eventTexts, isLive, outcomeText, stateNames, stateTones } from './run-texts.ts'

const route = getRouteApi('/shell/runs/$id')
const back = (
  <Link to="/runs" search={{}}>
    Runs
  </Link>
)

/** One Run: where it stands, what it did, what it cost, and the agent's log. */
export function RunPage() {
  const { id } = route.useParams()
  const { data: run, error } = useQuery(runQuery(id))
  if (run) return <ShownRun key={id} run={run} />
  return (
    <Page title="Run" back={back}>
      {error ? <ErrorAlert error={error} /> : <Skeleton />}
    </Page>
  )
}

function ShownRun({ run }: { run: Run }) {
  const { data: organizations = [] } = useQuery(organizationsQuery)
  const role = organizations.find(({ id }) => id === run.organizationId)?.role
  const isAdmin = role !== undefined && role !== 'member'
  const { data: cost } = useQuery(runCostQuery(run.id))
  return (
    <Page
      title={`${visibleName(run.repo)} #${run.issueNumber}`}
      back={back}
      actions={<RunActions run={run} isAdmin={isAdmin} />}
    >
      {run.failureReason !== null && (
        <Notice tone={run.state === 'failed' ? 'bad' : 'info'}>
          <p className="m-0 whitespace-pre-wrap break-words">{visibleLines(run.failureReason)}</p>
        </Notice>
      )}
      <Panel>
        <Facts facts={factsOf(run)} />
        {cost && (
          <Meter
            label="Cost"
            value={cost.costUsd}
            max={cost.budgetUsd}
            text={`about $${cost.costUsd.toFixed(2)} of $${cost.budgetUsd.toFixed(2)} · ${cost.inputTokens} tokens read, ${cost.outputTokens} written`}
          />
        )}
      </Panel>
      <Panel title="Timeline">
        <Timeline run={run} />
      </Panel>
      {isAdmin ? (
        <RunLog runId={run.id} turns={cost?.turns ?? 1} isLive={isLive(run.state)} />
      ) : (
        <Panel
          title="Log"
          text="The log may show what the Environment passes on, so only admins of the organization read it."
        />
      )}
    </Page>
  )
}

const factsOf = (run: Run) =>
  [
    [
      'State',
      <Badge key="state" tone={stateTones[run.state]}>
        {stateNames[run.state]}
      </Badge>,
    ],
    ['Outcome', outcomeText(run.completionStatus)],
    ['Pull request', <PullRequest key="pull" run={run} />],
    [
      'Branch',
      <span key="branch" className="break-all">
        <code className="font-mono text-xs">{visibleName(run.branch ?? '–')}</code> for{' '}
        <code className="font-mono text-xs">{visibleName(run.baseBranch)}</code>
      </span>,
    ],
    ['Agent', visibleName(run.agent)],
    [
      'Machine',
      run.dockId === null ? (
        run.executionTarget === 'fast' ? (
          'a sandbox without a Dock'
        ) : (
          'none yet'
        )
      ) : (
        <Link
          key="dock"
          to="/docks/$id"
          params={{ id: run.dockId }}
          search={{}}
          className="text-accent underline"
        >
          its Dock
        </Link>
      ),
    ],
    ...(run.testCommand === null
      ? []
      : [
          [
            'Tests',
            <code key="tests" className="break-all font-mono text-xs">
              {visibleName(run.testCommand)}
            </code>,
          ] as const,
        ]),
    ['Started', <RelativeTime key="started" at={run.createdAt} />],
  ] as const

function PullRequest({ run: { prNumber, prUrl } }: { run: Run }) {
  if (prNumber === null) return 'none'
  return (
    <span className="flex flex-wrap gap-3">
      <OutsideLink to={prUrl}>#{prNumber} at GitHub</OutsideLink>
      {prUrl !== null && <OutsideLink to={`${prUrl}/files`}>the diff</OutsideLink>}
    </span>
  )
}

function Timeline({ run }: { run: Run }) {
  return (
    <ol aria-label="Timeline" className="m-0 grid list-none gap-0 p-0">
      {run.events.map(({ t, at }, position) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: events are only ever added at the end.
        <li key={position} className="flex gap-3 border-b border-line py-2 text-sm last:border-b-0">
          <span className="w-28 shrink-0 text-xs text-muted">
            <RelativeTime at={at} />
          </span>
          <span className="min-w-0 flex-1">{eventTexts[t]}</span>
        </li>
      ))}
    </ol>
  )
}
