import type { DescribedVersion } from '@dock/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { versionsQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { MoreButton } from '../../components/more-button.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { countOf } from '../../lib/count-of.ts'
import type { TabProps } from './tab-props.ts'
import { UpgradeSection } from './upgrade-section.tsx'
import { differencesOf } from './version-differences.ts'

const signColors = { '+': 'text-good', '-': 'text-bad', '~': 'text-wait' } as const

/** Which Docks run which version, and what each version changed. */
export function VersionsTab({ environment, isAdmin }: TabProps) {
  const listed = useInfiniteQuery(versionsQuery(environment.id))
  const { data, error } = listed
  const versions = data?.pages.flatMap((page) => page.versions) ?? []
  return (
    <>
      <UpgradeSection environment={environment} isAdmin={isAdmin} />
      <Panel
        title="Versions"
        text="What each change added (+), removed (-) or switched (~), by name. Values are never shown here."
      >
        {!data && <Pending error={error} />}
        <ol aria-label="Versions" className="m-0 grid list-none divide-y divide-line p-0">
          {versions.map((version, at) => (
            <VersionRow
              key={version.version}
              version={version}
              before={versions[at + 1]}
              isCurrent={version.version === environment.currentVersion}
              isOldest={at === versions.length - 1 && !listed.hasNextPage}
            />
          ))}
        </ol>
        <MoreButton pages={listed}>Show older versions</MoreButton>
      </Panel>
    </>
  )
}

function VersionRow(props: {
  version: DescribedVersion
  before: DescribedVersion | undefined
  isCurrent: boolean
  isOldest: boolean
}) {
  const { version, before, isCurrent, isOldest } = props
  const differences = before ? differencesOf(before, version) : []
  return (
    <li className="grid gap-1.5 py-3 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <span className="font-medium">Version {version.version}</span>
        {isCurrent && <Badge tone="good">current</Badge>}
        {version.dockCount > 0 && <Badge>{countOf(version.dockCount, 'Dock')}</Badge>}
        <span className="text-muted">
          <RelativeTime at={version.createdAt} />
        </span>
      </div>
      {differences.length > 0 && (
        <ul className="m-0 grid list-none gap-0.5 p-0 font-mono text-xs">
          {differences.map(({ sign, text }) => (
            <li key={sign + text} className={signColors[sign]}>
              {sign} {text}
            </li>
          ))}
        </ul>
      )}
      {before && differences.length === 0 && (
        <p className="m-0 text-xs text-muted">
          The names are the same: a value or the contents of a file changed.
        </p>
      )}
      {!before && isOldest && (
        <p className="m-0 text-xs text-muted">
          {version.version === 1 ? 'The start.' : 'The oldest version that is kept.'}
        </p>
      )}
    </li>
  )
}
