import type { HostSummary, HostVersions } from '@dock/sdk'
import { Badge } from '../../components/badge.tsx'
import { RelativeTime } from '../../components/time.tsx'

/** The runtime of a host and the release that new Docks get. An old release is red. */
export function RuntimeRelease({
  host,
}: {
  host: Pick<HostSummary & HostVersions, 'runtime' | 'runtimeRelease' | 'isEmulated'>
}) {
  const { runtime, runtimeRelease: release } = host
  if (!release && !host.isEmulated) return runtime
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      {runtime} {release?.version}
      {host.isEmulated && <Badge tone="bad">emulated</Badge>}
      {release?.releasedAt && (
        <Badge tone={release.isOld ? 'bad' : 'good'}>
          <span>
            {release.isOld && 'too old: '}released <RelativeTime at={release.releasedAt} />
          </span>
        </Badge>
      )}
      {release?.source && <span className="text-muted">from {release.source}</span>}
    </span>
  )
}
