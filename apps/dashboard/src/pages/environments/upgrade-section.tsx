import type { ListedDock } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { environmentDocksQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { countOf } from '../../lib/count-of.ts'
import { useAction } from '../../lib/use-action.ts'
import type { TabProps } from './tab-props.ts'

const operationEveryMs = 1_000

/** The Docks of an Environment with their versions, and the way to the current one. */
export function UpgradeSection({ environment, isAdmin }: TabProps) {
  const { id, currentVersion } = environment
  const client = useQueryClient()
  const docks = useQuery(environmentDocksQuery(id))
  const { busy, run } = useAction()
  const [operationId, setOperationId] = useState<string>()
  const operation = useQuery({
    queryKey: ['operation', operationId],
    queryFn: ({ signal }) => api.call('readOperation', { params: { id: operationId ?? '' }, signal }),
    enabled: operationId !== undefined,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.status === 'completed' ? false : operationEveryMs),
  })
  const isOld = ({ environmentVersion }: ListedDock): boolean => (environmentVersion ?? 0) < currentVersion
  const old = docks.data?.docks.filter(isOld) ?? []
  const status = operationId === undefined ? undefined : (operation.data?.status ?? 'pending')
  const isRunning = status !== undefined && status !== 'completed'

  const upgrade = async (dockIds?: string[]): Promise<void> => {
    const body = dockIds ? { dockIds } : {}
    const { operation: started } = await api.call('upgradeEnvironment', { params: { ref: id }, body })
    client.setQueryData(['operation', started.id], started)
    setOperationId(started.id)
  }
  return (
    <Panel
      title="Docks"
      text={
        isAdmin
          ? `An upgrade gives Docks that are on the variables and files of version ${currentVersion} at once.`
          : `Only admins upgrade Docks. The current version is ${currentVersion}.`
      }
      actions={
        isAdmin &&
        old.length > 0 && (
          <Button
            look="primary"
            busy={busy !== undefined || isRunning}
            onClick={() => run('all', () => upgrade())}
          >
            Upgrade {countOf(old.length, 'Dock')}
            {docks.data?.nextCursor !== null && ' and more'}
          </Button>
        )
      }
    >
      {status !== undefined && (
        <p role="status" className="m-0 rounded-md border border-line bg-raised px-3 py-2 text-sm">
          {status === 'completed'
            ? 'The upgrade is done.'
            : status === 'blocked'
              ? 'The upgrade waits for a host, and goes on by itself.'
              : `Upgrading: ${countOf(old.length, 'Dock')} to go.`}
        </p>
      )}
      {!docks.data && <Pending error={docks.error} />}
      {docks.data?.docks.length === 0 && (
        <p className="m-0 text-sm text-muted">No Dock uses this Environment.</p>
      )}
      {docks.data && docks.data.docks.length > 0 && (
        <Rows label="Docks of the Environment">
          {docks.data.docks.map((dock) => (
            <Row
              key={dock.id}
              title={
                <>
                  <Link to="/docks/$id" params={{ id: dock.id }} search={{}} className="hover:underline">
                    {dock.name ?? dock.id}
                  </Link>
                  <StateBadge state={dock.state} />
                </>
              }
              text={dock.createdBy ? `Made by ${dock.createdBy.name}` : undefined}
            >
              <Badge tone={isOld(dock) ? 'wait' : 'good'}>version {dock.environmentVersion ?? '–'}</Badge>
              {isAdmin && isOld(dock) && (
                <Button
                  disabled={busy !== undefined || isRunning}
                  aria-label={`Upgrade ${dock.name ?? dock.id}`}
                  onClick={() => run(dock.id, () => upgrade([dock.id]))}
                >
                  Upgrade
                </Button>
              )}
            </Row>
          ))}
        </Rows>
      )}
      {docks.data && docks.data.nextCursor !== null && (
        <p className="m-0 text-sm text-muted">Only the newest {docks.data.docks.length} are shown.</p>
      )}
    </Panel>
  )
}
