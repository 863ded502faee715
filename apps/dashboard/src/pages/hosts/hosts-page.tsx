import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Server } from 'lucide-react'
import { hostsQuery } from '../../api/operator-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Badge } from '../../components/badge.tsx'
import { Empty } from '../../components/empty.tsx'
import { Page } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { Cell, Row, Table } from '../../components/table.tsx'
import { formatBytes } from '../../lib/format.ts'
import { LastReport } from './last-report.tsx'
import { Quarantine } from './quarantine.tsx'

/** All machines on which Docks run, and the data that belongs to nobody known. */
export function HostsPage() {
  const { data, error } = useQuery(hostsQuery)
  return (
    <Page title="Hosts" text="The machines on which Docks run." wide>
      {error && <ErrorAlert error={error} />}
      {!data && !error && <Skeleton />}
      {data?.length === 0 && (
        <Empty
          title="No hosts yet"
          icon={<Server size={18} />}
          text="Run script/admin host-token on this server, and start a host with the token."
        />
      )}
      {data && data.length > 0 && (
        <Table
          label="Hosts"
          columns={[
            ...[
              'Host',
              'State',
              'Runtime',
              'Docks',
              'Slots',
              'CPUs',
              'Memory',
              'Disk',
              'Kernel',
              'Last report',
            ],
          ]}
        >
          {data.map((host) => (
            <Row key={host.id}>
              <Cell className="whitespace-nowrap font-medium">
                <Link to="/hosts/$id" params={{ id: host.id }} className="hover:underline">
                  {host.address || host.id.slice(0, 8)}
                </Link>
                <span className="block font-mono text-xs font-normal text-muted">{host.id.slice(0, 8)}</span>
              </Cell>
              <Cell>
                <Badge tone={host.state === 'online' ? 'good' : 'bad'}>{host.state}</Badge>
              </Cell>
              <Cell>{host.runtime}</Cell>
              <Cell>{host.runningDocks}</Cell>
              <Cell className="whitespace-nowrap">
                {host.usedDocks} of {host.maxDocks}
              </Cell>
              <Cell>{host.vcpuTotal}</Cell>
              <Cell className="whitespace-nowrap">{formatBytes(host.memTotalBytes)}</Cell>
              <Cell className="whitespace-nowrap">{formatBytes(host.diskTotalBytes)}</Cell>
              <Cell className="whitespace-nowrap text-muted">{host.kernelRelease ?? host.kernel}</Cell>
              <Cell className="whitespace-nowrap text-muted">
                <LastReport host={host} />
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      <Quarantine />
    </Page>
  )
}
