import { useEffect, useRef, useState } from 'react'
import { api } from '../../api/client.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { OptionSelect } from '../../components/option-select.tsx'
import { Panel } from '../../components/page.tsx'
import { visibleLines } from '../../lib/visible-text.ts'

/** While an agent works, its log is asked for at this pace. */
const askEveryMs = 1_500
/** A browser cannot show 4 MiB of text in time. */
const shownMax = 256 * 1024

type Log = { text: string; isCut: boolean; isComplete: boolean }
const empty: Log = { text: '', isCut: false, isComplete: false }

const append = ({ text, isCut }: Log, more: string, isComplete: boolean): Log => {
  const all = text + more
  return { text: all.slice(-shownMax), isCut: isCut || all.length > shownMax, isComplete }
}

/** Returns the log of a turn, which grows while the agent works. */
function useLog(runId: string, turn: number, isLive: boolean): { log: Log; error: unknown } {
  const [log, setLog] = useState(empty)
  const [error, setError] = useState<unknown>()
  const live = useRef(isLive)
  live.current = isLive
  useEffect(() => {
    setLog(empty)
    setError(undefined)
    const end = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const readOn = async (offset: number): Promise<void> => {
      const wasLive = live.current
      const part = await api.call('readRunLog', {
        params: { id: runId },
        query: { turn, offset },
        signal: end.signal,
      })
      const isLast = part.isComplete || (part.text === '' && !wasLive)
      setLog((before) => append(before, part.text, isLast))
      if (isLast || end.signal.aborted) return
      if (part.text !== '') return readOn(part.nextOffset)
      timer = setTimeout(() => follow(part.nextOffset), askEveryMs)
    }
    const follow = (offset: number): void => {
      readOn(offset).catch((failure: unknown) => {
        if (!end.signal.aborted) setError(failure)
      })
    }
    follow(0)
    return () => {
      end.abort()
      clearTimeout(timer)
    }
  }, [runId, turn])
  return { log, error }
}

/** The agent's log, turn by turn. What agents write is hostile: it is shown as text, with nothing invisible in it. */
export function RunLog({ runId, turns, isLive }: { runId: string; turns: number; isLive: boolean }) {
  const [chosen, setChosen] = useState<number>()
  const turn = chosen ?? Math.max(1, turns)
  const { log, error } = useLog(runId, turn, isLive)
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
      {error !== undefined && <ErrorAlert error={error} />}
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
        {log.isComplete ? 'This is all of it.' : 'Following…'}
      </p>
    </Panel>
  )
}
