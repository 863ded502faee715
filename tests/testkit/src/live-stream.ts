/** Reads GET /api/live in tests. */
import type { LiveChange } from '@dock/contract'
import type { TestControlPlane } from './test-control-plane.ts'

export type LiveEvent = { event: string; id: string; data: unknown }

const parseEvent = (text: string): LiveEvent | undefined => {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1]
  const event = field('event')
  return event === undefined ? undefined : { event, id: field('id')!, data: JSON.parse(field('data')!) }
}

export type LiveStream = {
  /** Returns the next event, without those that only say that the stream is alive. */
  next(): Promise<LiveEvent | 'closed'>
  /** Returns the first change that matches and was not returned before, and its cursor. */
  change(wanted: Partial<LiveChange>): Promise<{ change: LiveChange; cursor: string }>
  leave(): Promise<void>
}

/** Opens a stream, after the cursor if there is one. */
export async function openLiveStream(
  server: Pick<TestControlPlane, 'fetch'>,
  headers: Record<string, string>,
  cursor?: string,
): Promise<LiveStream> {
  const response = await server.fetch('/api/live', {
    headers: { ...headers, ...(cursor === undefined ? {} : { 'last-event-id': cursor }) },
  })
  const type = response.headers.get('content-type')
  if (response.status !== 200 || !type?.includes('text/event-stream'))
    throw new Error(`no stream, but status ${response.status} with ${type}`)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const pending: { change: LiveChange; cursor: string }[] = []
  const next = async (): Promise<LiveEvent | 'closed'> => {
    for (;;) {
      const at = text.indexOf('\n\n')
      if (at !== -1) {
        const event = parseEvent(text.slice(0, at))
        text = text.slice(at + 2)
        if (event && event.event !== 'alive') return event
        continue
      }
      const { value, done } = await reader.read()
      if (done) return 'closed'
      text += value
    }
  }
  return {
    next,
    change: async (wanted) => {
      for (;;) {
        const at = pending.findIndex(({ change }) =>
          Object.entries(wanted).every(([key, value]) => change[key as keyof LiveChange] === value),
        )
        if (at !== -1) return pending.splice(at, 1)[0]!
        const event = await next()
        if (event === 'closed') throw new Error('the stream closed')
        if (event.event !== 'changes') continue
        for (const change of event.data as LiveChange[]) pending.push({ change, cursor: event.id })
      }
    },
    leave: () => reader.cancel(),
  }
}
