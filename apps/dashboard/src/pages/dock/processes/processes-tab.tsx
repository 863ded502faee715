import type { DockInfo, DockProcess } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { ErrorAlert } from '../../../components/alert.tsx'
import { Empty } from '../../../components/empty.tsx'
import { laterPart } from '../../../components/later-part.tsx'
import { isReady } from '../../../lib/dock-states.ts'
import { DockOff } from '../dock-off.tsx'
import { ProcessRow } from './process-row.tsx'
import { StartProcess } from './start-process.tsx'

const ProcessOutput = laterPart(async () => (await import('./process-output.tsx')).ProcessOutput, {
  waiting: <p className="m-0 text-sm text-muted">Loading…</p>,
})

const readAgainMs = 3_000

const newestFirst = (all: readonly DockProcess[]): DockProcess[] =>
  all.toSorted((one, other) =>
    one.state === other.state
      ? other.startedAt.localeCompare(one.startedAt)
      : one.state === 'running'
        ? -1
        : 1,
  )

/** Processes of the Dock that outlive their request: list, start, output, signal. */
export function ProcessesTab({ dock }: { dock: DockInfo }) {
  if (!isReady(dock.state)) return <DockOff dock={dock} need="start processes" />
  return <Processes key={dock.id} dockId={dock.id} />
}

function Processes({ dockId }: { dockId: string }) {
  const [shown, setShown] = useState<string>()
  const list = useQuery({
    queryKey: ['process', dockId],
    queryFn: ({ signal }) => api.call('listDockProcesses', { params: { id: dockId }, signal }),
    // No live event tells of processes.
    refetchInterval: readAgainMs,
    staleTime: 0,
  })
  const processes = newestFirst(list.data ?? [])
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <StartProcess
        dockId={dockId}
        onStarted={(id) => {
          setShown(id)
          void list.refetch()
        }}
      />
      {list.error && <ErrorAlert error={list.error} />}
      {list.data?.length === 0 && (
        <Empty
          title="No processes yet"
          text="What you start here goes on when you close the page, and keeps its output. Programs that you start in a terminal belong to its shell."
        />
      )}
      {processes.length > 0 && (
        <ul
          aria-label="Processes"
          className="m-0 grid list-none grid-cols-[minmax(0,1fr)] divide-y divide-line rounded-lg border border-line bg-panel p-0 shadow-raised"
        >
          {processes.map((process) => (
            <ProcessRow
              key={process.id}
              dockId={dockId}
              process={process}
              isShown={process.id === shown}
              onShow={() => setShown(process.id === shown ? undefined : process.id)}
              onChange={() => void list.refetch()}
            >
              <ProcessOutput dockId={dockId} processId={process.id} hasPty={process.pty !== null} />
            </ProcessRow>
          ))}
        </ul>
      )}
    </div>
  )
}
