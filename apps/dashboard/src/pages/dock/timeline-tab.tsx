import type { TimelineEntry } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { timelineQuery } from '../../api/dock-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { wordOf } from '../../lib/dock-states.ts'

const reasons: Readonly<Record<string, string>> = {
  create: 'created the Dock',
  branch: 'branched it from another Dock',
  resume: 'resumed it',
  stop: 'stopped it',
  stopped: 'its disk was captured',
  ttl: 'its auto-stop timer ran out',
  started: 'it is ready',
  runtime_up: 'its machine runs',
  repositories: 'repositories are being cloned',
  host_silent: 'its host stopped reporting',
  host_back: 'its host reports again',
  runtime_lost: 'its machine ended unexpectedly',
  lost_for_good: 'its machine ended too often, or its disk is gone',
  start_failed: 'it could not be started',
  activity: 'it is in use',
  activity_ended: 'it is not in use any more',
  inactivity: 'nobody used it for a while',
  resume_failed: 'the resume failed',
  capture_failed: 'the capture failed, so it runs on',
  died: 'its machine ended unexpectedly and was booted again',
  ended: 'its machine ended and was booted again',
  adopted: 'adopted from quarantine',
  out_of_memory: 'ran out of memory',
}

const describe = (entry: TimelineEntry): string => {
  if (entry.kind === 'memory') {
    if (entry.process === null) return 'The Dock ran out of memory and was started again.'
    const times = entry.count !== null && entry.count > 1 ? ` (${entry.count} times)` : ''
    return `Out of memory: ${entry.process} was ended${times}.`
  }
  return `${entry.by.name}: ${reasons[entry.why] ?? entry.why.replaceAll('_', ' ')}`
}

/** A change between two states of one word has both words once. */
const changeOf = ({ fromState, toState }: TimelineEntry): string => {
  const words = [fromState === null ? 'New' : wordOf(fromState), toState === null ? '' : wordOf(toState)]
  return words[0] === words[1] ? words[0]! : words.join(' → ')
}

/** Who or what changed the Dock, and why. */
export function TimelineTab({ dockId }: { dockId: string }) {
  const { data, error } = useQuery(timelineQuery(dockId))
  if (error) return <ErrorAlert error={error} />
  if (!data) return <Skeleton lines={6} />
  return (
    <ol className="m-0 grid list-none rounded-lg border border-line bg-panel p-0 shadow-raised">
      {data.entries.map((entry) => (
        <li
          key={entry.id}
          className="flex flex-col gap-x-4 border-b border-line px-4 py-2.5 text-sm last:border-b-0 sm:flex-row"
        >
          <span className="w-28 shrink-0 text-xs text-muted">
            <RelativeTime at={entry.at} />
          </span>
          <span className="min-w-0 flex-1">
            <bdi>{describe(entry)}</bdi>
            {entry.toState && (
              <span
                className={`block text-xs ${entry.toState === 'error' || entry.toState === 'unreachable' ? 'text-bad' : 'text-muted'}`}
              >
                {changeOf(entry)}, through {entry.through}
              </span>
            )}
          </span>
        </li>
      ))}
    </ol>
  )
}
