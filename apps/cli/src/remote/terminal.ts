/** Connects this terminal to a terminal in a Dock. */
import { type Client, DockError } from '@dock/sdk'
import { UsageError } from '../program/failures.ts'

type Frame = { type?: unknown; code?: unknown }

const sizeNow = () => ({
  cols: Math.min(1000, Math.max(1, process.stdout.columns ?? 80)),
  rows: Math.min(1000, Math.max(1, process.stdout.rows ?? 24)),
})

/** Returns the size of this terminal. Throws if there is none. */
export function terminalSize(): { cols: number; rows: number } {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError('This needs a terminal. Without one, write: dock exec DOCK -- COMMAND')
  return sizeNow()
}

const frameOf = (text: string): Frame => {
  try {
    return JSON.parse(text) as Frame
  } catch {
    return {}
  }
}

/** Opens the WebSocket and copies between it and this terminal until the program there ends. */
const talk = (address: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(address)
    socket.binaryType = 'arraybuffer'
    let exitCode: number | undefined
    const send = (bytes: Uint8Array): void => socket.send(bytes as Uint8Array<ArrayBuffer>)
    const resize = (): void => socket.send(JSON.stringify({ type: 'resize', ...sizeNow() }))
    socket.addEventListener('open', () => {
      process.stdin.setRawMode(true).resume().on('data', send)
      process.stdout.on('resize', resize)
      resize()
    })
    socket.addEventListener('message', (event) => {
      const data = event.data as string | ArrayBuffer
      if (typeof data !== 'string') return void process.stdout.write(new Uint8Array(data))
      const { type, code } = frameOf(data)
      if (type === 'exit' && typeof code === 'number') exitCode = code
    })
    socket.addEventListener('close', ({ code, reason }) => {
      process.stdin.off('data', send).setRawMode(false).pause()
      process.stdout.off('resize', resize)
      if (exitCode !== undefined) return resolve(exitCode)
      reject(new DockError('terminal_closed', `The terminal was closed: ${reason || `code ${code}`}.`))
    })
  })

/** Opens a terminal: a new shell, or a process that has one. Returns the exit code. */
export async function openTerminal(client: Client, id: string, processId?: string): Promise<number> {
  const { ticket } = await (processId === undefined
    ? client.call('openTerminal', { params: { id } })
    : client.call('openProcessTerminal', { params: { id, pid: processId }, body: {} }))
  const address = client.baseUrl.replace(/^http/, 'ws')
  return talk(`${address}/v1/docks/${id}/terminal?ticket=${encodeURIComponent(ticket)}`)
}
