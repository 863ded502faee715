/** script/bench terminal: from a key that is sent to the moment its echo is there, over the whole way and in a Dock. */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { createDock } from '../tests/e2e/support/dock.ts'
import { freePort, newDataDir, removeDataDir, type Server, startServer } from '../tests/e2e/support/server.ts'
import { compare, percentile, sample } from './figures.ts'

const keys = Number(process.env.DOCK_BENCH_COUNT ?? '300')
const wantedMs = 10

const open = async ({ client, admin }: Server, id: string): Promise<WebSocket> => {
  const { ticket } = await client.call('openTerminal', { params: { id } })
  const socket = new WebSocket(
    `${admin.baseUrl.replace(/^http/, 'ws')}/v1/docks/${id}/terminal?ticket=${ticket}`,
  )
  await once(socket, 'open')
  return socket
}

/** Resolves at the first output that holds the text. */
const heard = (socket: WebSocket, text: string): Promise<void> =>
  new Promise((resolve) => {
    let seen = ''
    const listen = (data: Buffer): void => {
      seen += data.toString()
      if (!seen.includes(text)) return
      socket.off('message', listen)
      resolve()
    }
    socket.on('message', listen)
  })

const measure = async (server: Server): Promise<void> => {
  const { id } = await createDock(server)
  const opened = await sample('terminal: ticket to prompt', 10, async () => {
    const socket = await open(server, id)
    await heard(socket, '$ ')
    socket.close()
    await once(socket, 'close')
  })
  const socket = await open(server, id)
  await heard(socket, '$ ')
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const echo = await sample('terminal: key to echo at the prompt', keys, async (index) => {
    const letter = letters[index % letters.length]!
    const echoed = heard(socket, letter)
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
