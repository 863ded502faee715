import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Bell } from 'lucide-react'
import { api } from '../../api/client.ts'
import { inboxQuery } from '../../api/operator-queries.ts'
import { unreadQuery } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Empty } from '../../components/empty.tsx'
import { MoreButton } from '../../components/more-button.tsx'
import { Page } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { TabLinks, tabClass } from '../../components/tabs.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { useAction } from '../../lib/use-action.ts'
import { Preferences } from './preferences.tsx'

const route = getRouteApi('/shell/inbox')

/** What happened to Docks, newest first, and which of it comes by mail. */
export function InboxPage() {
  const { tab } = route.useSearch()
  const client = useQueryClient()
  const { data: unread = 0 } = useQuery(unreadQuery)
  const { busy, run } = useAction()
  const again = () => client.invalidateQueries({ queryKey: ['notification'] })
  const readAll = async (): Promise<void> => {
    await api.call('markAllNotificationsRead')
    await again()
  }
  return (
    <Page
      title="Inbox"
      text="What happened to your Docks without you."
      actions={
        tab === undefined &&
        unread > 0 && (
          <Button busy={busy === 'all'} onClick={() => run('all', readAll)}>
            Mark all as read
          </Button>
        )
      }
    >
      <TabLinks label="Parts of the inbox">
        <Link
          to="/inbox"
          search={{}}
          activeOptions={{ exact: true }}
          className={tabClass}
          aria-current={tab === undefined ? 'page' : undefined}
        >
          Alerts
        </Link>
        <Link
          to="/inbox"
          search={{ tab: 'preferences' }}
          className={tabClass}
          aria-current={tab === 'preferences' ? 'page' : undefined}
        >
          Preferences
        </Link>
      </TabLinks>
      {tab === 'preferences' ? (
        <Preferences />
      ) : (
        <Alerts onRead={(id) => api.call('markNotificationRead', { params: { id } }).then(again)} />
      )}
    </Page>
  )
}

function Alerts({ onRead }: { onRead: (id: string) => Promise<unknown> }) {
  const listed = useInfiniteQuery(inboxQuery)
  const { run } = useAction()
  if (listed.error) return <ErrorAlert error={listed.error} />
  if (!listed.data) return <Skeleton />
  const alerts = listed.data.pages.flatMap((page) => page.notifications)
  if (alerts.length === 0)
    return (
      <Empty
        title="Nothing happened"
        icon={<Bell size={18} />}
        text="If a Dock stops responding, fills its disk or is started again, you read it here."
      />
    )
  return (
    <>
      <ul
        aria-label="Alerts"
        className="m-0 grid list-none rounded-lg border border-line bg-panel p-0 shadow-raised"
      >
        {alerts.map((alert) => (
          <li
            key={alert.id}
            className="flex items-start gap-3 border-b border-line px-4 py-3 last:border-b-0"
          >
            <svg
              viewBox="0 0 8 8"
              className={`mt-1.5 size-2 shrink-0 ${alert.read ? 'text-line' : 'text-accent'}`}
              role="img"
              aria-label={alert.read ? 'read' : 'unread'}
            >
              <circle cx="4" cy="4" r="4" fill="currentColor" />
            </svg>
            <div className="flex min-w-0 flex-1 flex-col gap-x-4 sm:flex-row sm:items-start">
              <div className="min-w-0 flex-1">
                <Link
                  to="/docks/$id"
                  params={{ id: alert.dockId }}
                  search={{ tab: 'timeline' }}
                  onClick={() => {
                    if (!alert.read) run(alert.id, () => onRead(alert.id))
                  }}
                  className={`text-sm hover:underline ${alert.read ? '' : 'font-medium'}`}
                >
                  <bdi>{alert.title}</bdi>
                </Link>
                <p className="m-0 text-sm text-muted">
                  <bdi>{alert.body}</bdi>
                </p>
              </div>
              <span className="shrink-0 whitespace-nowrap text-xs text-muted">
                <RelativeTime at={alert.occurredAt} />
              </span>
            </div>
          </li>
        ))}
      </ul>
      <MoreButton pages={listed}>Show older alerts</MoreButton>
    </>
  )
}
