/** A terminal emulator connected to a Dock's terminal. Tests type text and read the screen. */
import { once } from 'node:events'
import xterm from '@xterm/headless'
import { WebSocket } from 'ws'
import type { Server } from './server.ts'

export type Screen = {
  /** Returns the visible lines, without trailing blanks. */
  lines(): string[]
  type(text: string): void
  resize(cols: number, rows: number): void
  /** Waits until `wanted` returns true. After a minute, rejects with the screen's content. */
  until(wanted: (lines: string[]) => boolean, what: string): Promise<void>
  /** Resolves with the shell's exit code (null if unknown) and the WebSocket's close code. */
  closed: Promise<{ exitCode: number | null; code: number }>
  close(): void
}

const timeoutMs = 60_000
const firstSize = { cols: 80, rows: 24 }

/** Requests a ticket and opens the terminal with it. With `processId`, the terminal is attached to that process. */
export async function openScreen(
  { client, admin }: Pick<Server, 'client' | 'admin'>,
  id: string,
  processId?: string,
): Promise<Screen> {
  const { ticket } = await (processId === undefined
    ? client.call('openTerminal', { params: { id } })
    : client.call('openProcessTerminal', { params: { id, pid: processId }, body: {} }))
  const address = new URL(`/v1/docks/${id}/terminal?ticket=${ticket}`, admin.baseUrl.replace(/^http/, 'ws'))
  const socket = new WebSocket(address)
  const emulator = new xterm.Terminal({ ...firstSize, allowProposedApi: true })
  const watchers = new Set<() => void>()
  let exitCode: number | null = null
  socket.on('message', (data, isBinary) => {
    if (!isBinary) exitCode = (JSON.parse(String(data)) as { code?: number }).code ?? null
    else
      emulator.write(data as Buffer, () => {
        for (const look of [...watchers]) look()
      })
  })
  // Sends the emulator's replies to control sequences that query the terminal.
  emulator.onData((text) => socket.send(Buffer.from(text)))
  const closed = (once(socket, 'close') as Promise<[number]>).then(([code]) => ({ exitCode, code }))
  // The caller learns of an error from the opening.
  closed.catch(() => undefined)
  await once(socket, 'open')

  const lines = (): string[] => {
    const { active } = emulator.buffer
    return Array.from(
      { length: emulator.rows },
      (_, row) =>
        active
          .getLine(active.viewportY + row)
          ?.translateToString()
          .trimEnd() ?? '',
    )
  }
  return {
    lines,
    type: (text) => socket.send(Buffer.from(text)),
    resize: (cols, rows) => {
      emulator.resize(cols, rows)
      socket.send(JSON.stringify({ type: 'resize', cols, rows }))
    },
    until: (wanted, what) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(look)
          reject(new Error(`the screen does not show ${what}:\n${lines().join('\n')}`))
        }, timeoutMs)
        const look = (): void => {
          if (!wanted(lines())) return
          clearTimeout(timer)
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
      }),
    closed,
    close: () => socket.close(),
  }
}
