import type { HostDetail } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { hostQuery } from '../../api/operator-queries.ts'
import { ErrorAlert, Notice } from '../../components/alert.tsx'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Facts, Page, Panel } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { Cell, Row, Table } from '../../components/table.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { showToast } from '../../components/toasts.tsx'
import { countOf } from '../../lib/count-of.ts'
import { formatBytes } from '../../lib/format.ts'
import { LastReport } from './last-report.tsx'
import { RuntimeRelease } from './runtime-release.tsx'

const route = getRouteApi('/shell/hosts/$id')

/** One host: its room, its versions, and the Docks on it. */
export function HostPage() {
  const { id } = route.useParams()
  const client = useQueryClient()
  const { data: host, error } = useQuery(hostQuery(id))
  const [asksLost, setAsksLost] = useState(false)
  const back = <Link to="/hosts">Hosts</Link>
  if (!host)
    return (
      <Page title="Host" back={back}>
        {error ? <ErrorAlert error={error} /> : <Skeleton lines={6} />}
      </Page>
    )
  const name = host.address || host.id.slice(0, 8)
  return (
    <Page
      wide
      title={name}
      back={back}
      actions={<Badge tone={host.state === 'online' ? 'good' : 'bad'}>{host.state}</Badge>}
    >
      {host.state === 'offline' && (
        <Notice tone="wait">
          <p className="m-0">
            The host is silent. Its Docks read unreachable until it reports again; nothing of them starts
            elsewhere.
          </p>
          <div>
            <Button size="small" look="danger" onClick={() => setAsksLost(true)}>
              Declare it lost
            </Button>
          </div>
        </Notice>
      )}
      {host.isEmulated && (
        <Notice tone="bad">
          <p className="m-0 font-medium">MicroVMs are emulated on this host.</p>
          <p className="m-0">
            It has no KVM that works, and DOCK_MICROVM_TCG allows emulation. Docks on it are many times
            slower, and QEMU alone isolates them. Use it for tests only.
          </p>
        </Notice>
      )}
      <div className="grid gap-5 lg:grid-cols-2">
        <Panel title="Room">
          <Facts
            facts={[
              ['Docks', `${host.runningDocks} running, ${host.usedDocks} of ${host.maxDocks} slots used`],
              ['Warm pool', `${host.warmDocks} ready`],
              ['CPUs', host.vcpuTotal],
              [
                'Memory',
                `${host.memAvailableBytes === null ? '–' : formatBytes(host.memAvailableBytes)} free of ${formatBytes(host.memTotalBytes)}`,
              ],
              [
                'Disk',
                `${host.diskFreeBytes === null ? '–' : formatBytes(host.diskFreeBytes)} free of ${formatBytes(host.diskTotalBytes)}`,
              ],
            ]}
          />
        </Panel>
        <Panel title="Versions">
          <Facts
            facts={[
              ['Runtime', <RuntimeRelease key="runtime" host={host} />],
              ['Kernel', host.kernelRelease ?? host.kernel],
              ['CPU', host.cpuFamily],
              ['Images', host.images.join(', ') || 'none yet'],
              ['Builds images', host.isBuilder ? 'yes' : 'no'],
              ['Last report', <LastReport key="report" host={host} />],
              [
                'Id',
                <code key="id" className="font-mono text-xs">
                  {host.id}
                </code>,
              ],
            ]}
          />
        </Panel>
      </div>
      <Runtimes
        title="Fast Runs"
        text="Sandboxes of Runs without a Dock. Each ends with its Run."
        runtimes={host.runs}
      />
      <Runtimes
        title="Orphans"
        text="The host reported these, and no Dock of the database owns them."
        runtimes={host.orphans}
      />
      <h2 className="m-0 text-base font-semibold">Docks on it</h2>
      {host.docks.length === 0 ? (
        <p className="m-0 text-sm text-muted">None is placed here.</p>
      ) : (
        <Table label="Docks of the host" columns={['Dock', 'State', 'Organization', 'Size', 'Since']}>
          {host.docks.map((dock) => (
            <Row key={dock.id}>
              <Cell className="max-w-56 truncate font-medium">
                <bdi>{dock.name ?? dock.id}</bdi>
              </Cell>
              <Cell>
                <StateBadge state={dock.state} />
              </Cell>
              <Cell className="max-w-56 truncate">
                <bdi>{dock.organizationName}</bdi>
              </Cell>
              <Cell className="whitespace-nowrap text-muted">
                {countOf(dock.cpus, 'CPU')}, {formatBytes(dock.memoryMiB * 2 ** 20)}, {dock.diskGiB} GiB disk
              </Cell>
              <Cell className="whitespace-nowrap text-muted">
                <RelativeTime at={dock.stateChangedAt} />
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      <ConfirmDialog
        title={`Declare ${name} lost?`}
        description="Only for a machine that will never come back. Docks on it lose what was not captured and copied. This cannot be undone."
        name={name}
        action="Declare lost"
        open={asksLost}
        onClose={() => setAsksLost(false)}
        onConfirm={async () => {
          const { docks, failedSnapshots } = await api.call('declareHostLost', { params: { id } })
          showToast(`${countOf(docks, 'Dock')} on it, ${countOf(failedSnapshots, 'Snapshot')} lost`)
          await client.invalidateQueries({ queryKey: ['host'] })
        }}
      />
    </Page>
  )
}

/** Sandboxes that are no Docks. Shows nothing if there are none. */
function Runtimes(props: { title: string; text: string; runtimes: HostDetail['runs'] }) {
  const { title, text, runtimes } = props
  if (runtimes.length === 0) return null
  return (
    <Panel title={title} text={text}>
      <ul className="m-0 grid list-none gap-1 p-0 text-sm">
        {runtimes.map(({ dockId, state }) => (
          <li key={dockId}>
            <code className="font-mono text-xs">{dockId}</code> <span className="text-muted">{state}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
