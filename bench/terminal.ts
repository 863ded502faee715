/** script/bench terminal: measures the time from a sent key to its echo, from the client to a Dock and back. */
import { once } from 'node:events'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { WebSocket } from 'ws'
import { createDock } from '../tests/e2e/support/dock.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../tests/e2e/support/server.ts'
import { compare, percentile, sample } from './figures.ts'

const keys = Number(process.env.DOCK_BENCH_COUNT ?? '300')
const wantedMs = 10
const timeoutMs = 10_000

type Terminal = {
  socket: WebSocket
  /** Resolves once the output since the last call contains the text. */
  heard(text: string): Promise<void>
}

/** Opens a terminal. Listens before the socket is open, because the prompt may arrive together with the handshake. */
const open = async ({ client, admin }: Server, id: string): Promise<Terminal> => {
  const { ticket } = await client.call('openTerminal', { params: { id } })
  const socket = new WebSocket(
    `${admin.baseUrl.replace(/^http/, 'ws')}/v1/docks/${id}/terminal?ticket=${ticket}`,
  )
  let unheard = ''
  let look = (): void => {}
  socket.on('message', (data) => {
    unheard += String(data)
    look()
  })
  await once(socket, 'open')
  const heard = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const lost = (): void => reject(new Error(`"${text}" is not in the output: ${JSON.stringify(unheard)}`))
      const timer = setTimeout(lost, timeoutMs)
      look = () => {
        if (!unheard.includes(text)) return
        clearTimeout(timer)
        unheard = ''
        resolve()
      }
      look()
    })
  return { socket, heard }
}

const measure = async (server: Server): Promise<void> => {
  const { id } = await createDock(server)
  const opened = await sample('terminal: ticket to prompt', 10, async () => {
    const { socket, heard } = await open(server, id)
    await heard('$ ')
    socket.close()
    await once(socket, 'close')
  })
  const { socket, heard } = await open(server, id)
  await heard('$ ')
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const echo = await sample('terminal: key to echo at the prompt', keys, async (index) => {
    const letter = letters[index % letters.length]!
    const echoed = heard(letter)
    socket.send(Buffer.from(letter))
    await echoed
  })
  process.stdout.write(`${compare(opened, undefined)}\n${compare(echo, undefined)}\n`)
  const p50 = percentile(echo, 0.5)
  process.stdout.write(
    `p50 ${p50.toFixed(2)} ms, wanted ${wantedMs}: ${p50 <= wantedMs ? 'holds' : 'MISSED'}\n`,
  )
  socket.terminate()
}

const dataDir = await newDataDir()
const server = await startServer(dataDir, await freePort())
try {
  await measure(server)
} finally {
  await server.interrupt()
  await removeDataDir(dataDir)
}
