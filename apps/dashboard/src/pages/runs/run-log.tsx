import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { emptyLog, runLogQuery } from '../../api/run-log-query.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { OptionSelect } from '../../components/option-select.tsx'
import { Panel } from '../../components/page.tsx'
import { visibleLines } from '../../lib/visible-text.ts'

/** The agent's log, turn by turn. What agents write is hostile: it is shown as text, with nothing invisible in it. */
export function RunLog({ runId, turns, isLive }: { runId: string; turns: number; isLive: boolean }) {
  const [chosen, setChosen] = useState<number>()
  const turn = chosen ?? Math.max(1, turns)
  const { data: log = emptyLog, error, isFetching } = useQuery(runLogQuery(runId, turn))
  const box = useRef<HTMLTextAreaElement>(null)
  const follows = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text moves the end.
  useEffect(() => {
    if (follows.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [log.text])
  return (
    <Panel
      title="Log"
      text="What the agent wrote. Do not trust it: the agent reads text of strangers."
      actions={
        turns > 1 && (
          <OptionSelect
            label="Turn"
            isLabelHidden
            value={String(turn)}
            options={Array.from({ length: turns }, (_, at) => ({
              value: String(at + 1),
              label: `Turn ${at + 1}`,
            }))}
            onChange={(next) => setChosen(Number(next))}
          />
        )
      }
    >
      {error && <ErrorAlert error={error} />}
      {log.isCut && (
        <p className="m-0 text-xs text-muted">
          Only the end is shown. The whole log: <code className="font-mono">dock run logs {runId}</code>
        </p>
      )}
      <textarea
        ref={box}
        readOnly
        spellCheck={false}
        dir="ltr"
        aria-label={`Log of turn ${turn}`}
        value={visibleLines(log.text)}
        rows={16}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          follows.current = scrollHeight - scrollTop - clientHeight < 40
        }}
        className="w-full resize-y rounded-lg border border-line bg-page p-3 font-mono text-xs leading-5"
      />
      <p role="status" className="m-0 text-xs text-muted">
        {log.isComplete || !(isLive || isFetching) ? 'This is all of it.' : 'Following…'}
      </p>
    </Panel>
  )
}
