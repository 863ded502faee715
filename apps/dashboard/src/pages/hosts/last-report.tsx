import type { HostSummary } from '@dock/sdk'
import { RelativeTime } from '../../components/time.tsx'

/** When the host reported last. An online host reports every few seconds, which is no live event: its page says no time. */
export function LastReport({ host }: { host: Pick<HostSummary, 'state' | 'lastHeartbeatAt'> }) {
  if (host.state === 'online') return 'just now'
  return host.lastHeartbeatAt ? <RelativeTime at={host.lastHeartbeatAt} /> : 'never'
}
