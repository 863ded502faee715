/** The log of a turn. It is read on from where it was read to when a live change says that it has grown. */
import type { RunLogPart } from '@dock/sdk'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

/** A browser cannot show 4 MiB of text in time, so only the end is kept. */
const shownMax = 256 * 1024

export type ShownLog = Omit<RunLogPart, 'turn'> & { isCut: boolean }
export const emptyLog: ShownLog = { text: '', nextOffset: 0, isComplete: false, isCut: false }

const append = ({ text, isCut }: ShownLog, { text: more, nextOffset, isComplete }: RunLogPart): ShownLog => {
  const all = text + more
  return { text: all.slice(-shownMax), isCut: isCut || all.length > shownMax, nextOffset, isComplete }
}

export function runLogQuery(runId: string, turn: number) {
  const queryKey = ['run_log', runId, turn]
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }) => {
      let log = client.getQueryData<ShownLog>(queryKey) ?? emptyLog
      while (!log.isComplete) {
        const query = { turn, offset: log.nextOffset }
        const part = await api.call('readRunLog', { params: { id: runId }, query, signal })
        log = append(log, part)
        if (part.text === '') break
        // A long log is shown while it is being read.
        client.setQueryData(queryKey, log)
      }
      return log
    },
    structuralSharing: false,
  })
}
