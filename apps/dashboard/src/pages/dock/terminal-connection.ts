/**
 * A terminal's connection to a kept process. The process and its scrollback live on in the Dock; after a lost connection
 * the terminal goes on from the offset of the last byte that it has shown.
 */
import { DockApiError } from '@dock/sdk'
import { api } from '../../api/client.ts'

export type TerminalEvents = {
  onBytes: (bytes: Uint8Array) => void
  /** The output continues elsewhere than where it was left: what is shown so far is to be cleared. */
  onGap: () => void
  onState: (state: 'connecting' | 'connected' | 'lost') => void
  /** The shell has ended, or the terminal cannot be opened. `why` is a sentence. */
  onEnd: (why: string) => void
}

export type TerminalConnection = {
  write: (data: string | Uint8Array) => void
  resize: (cols: number, rows: number) => void
  close: () => void
}

/** After these the service does not want the terminal back. */
const finalCodes = new Set([1000, 4000, 4001, 4002, 4003])
const retryMs = [250, 500, 1_000, 2_000, 5_000] as const

/** Attaches to the process until `close` is called or its shell ends. */
export function connectTerminal(
  dockId: string,
  processId: string,
  events: TerminalEvents,
): TerminalConnection {
  let socket: WebSocket | undefined
  /** The offset after the last byte that was shown. Undefined until the first bytes came. */
  let offset: number | undefined
  let isOver = false
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let size = { cols: 80, rows: 24 }

  const end = (why: string): void => {
    if (isOver) return
    isOver = true
    events.onEnd(why)
  }
  const sendSize = (): void => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'resize', ...size }))
  }
  const takeFrame = (text: string): void => {
    const frame = JSON.parse(text) as { type: string; offset?: number; code?: number }
    if (frame.type === 'attached' && frame.offset !== undefined) {
      if (offset !== undefined && offset !== frame.offset) events.onGap()
      offset = frame.offset
    }
    if (frame.type === 'exit') end(`The shell ended with code ${frame.code}.`)
  }
  const again = (): void => {
    if (isOver) return
    events.onState('lost')
    timer = setTimeout(() => void open(), retryMs[Math.min(failures++, retryMs.length - 1)])
  }
  const open = async (): Promise<void> => {
    events.onState('connecting')
    try {
      const { ticket } = await api.call('openProcessTerminal', {
        params: { id: dockId, pid: processId },
        body: offset === undefined ? {} : { offset },
      })
      if (isOver) return
      const address = new URL(`/v1/docks/${dockId}/terminal`, location.origin)
      address.protocol = address.protocol.replace('http', 'ws')
      address.searchParams.set('ticket', ticket)
      const opened = new WebSocket(address)
      socket = opened
      opened.binaryType = 'arraybuffer'
      opened.addEventListener('open', () => {
        failures = 0
        events.onState('connected')
        sendSize()
      })
      opened.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
        if (typeof data === 'string') return takeFrame(data)
        const bytes = new Uint8Array(data)
        offset = (offset ?? 0) + bytes.length
        events.onBytes(bytes)
      })
      opened.addEventListener('close', ({ code, reason }) => {
        if (socket !== opened) return
        if (finalCodes.has(code)) end(reason || 'The terminal was closed.')
        else again()
      })
    } catch (error) {
      const isFinal = error instanceof DockApiError && error.status < 500 && error.code !== 'rate_limited'
      if (isFinal) end(error.message)
      else again()
    }
  }
  void open()
  return {
    write: (data) => {
      if (socket?.readyState !== WebSocket.OPEN) return
      socket.send(typeof data === 'string' ? new TextEncoder().encode(data) : data.slice())
    },
    resize: (cols, rows) => {
      size = { cols, rows }
      sendSize()
    },
    close: () => {
      isOver = true
      clearTimeout(timer)
      socket?.close()
    },
  }
}
