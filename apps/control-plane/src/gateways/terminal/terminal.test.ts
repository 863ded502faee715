import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { createConnection } from 'node:net'
import { Duplex } from 'node:stream'
import { newUuid } from '@dock/foundation'
import {
  addPerson,
  type ControlPlaneWithHost,
  startControlPlaneWithHost,
  type TestPerson,
} from '@dock/testkit'
import type { PlayedShell } from '@dock/testkit/src/docks/played-shell.ts'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { HostUnreachable } from '../../modules/hosts/index.ts'

let server: ControlPlaneWithHost
let clock: VirtualClock
let port: number
let dockId: string
let member: TestPerson
/** The shells of the terminals, oldest first. */
let shells: PlayedShell[]
const logged: string[] = []
const clients: WebSocket[] = []

beforeAll(async () => {
  clock = createVirtualClock()
  server = await startControlPlaneWithHost({ clock, logTo: (line) => logged.push(line) })
  port = (await server.listen()).port
})
afterAll(() => server.stop())
beforeEach(async () => {
  shells = server.host.connections.playedShells = []
  dockId = await server.addDock()
  // Each test has a new member, because the rate limit of tickets counts per person.
  member = await addMember()
})
afterEach(async () => {
  const closed = clients.splice(0).map((client) => {
    if (client.readyState === WebSocket.CLOSED) return undefined
    const end = once(client, 'close')
    client.terminate()
    return end
  })
  await Promise.all(closed)
})

/** Marks the Dock like an admins-only Environment that has put files on its disk. */
const barMembers = (id = dockId) =>
  sql`update docks set marks = array[${newUuid()}::uuid] where id = ${id}`.execute(server.database.db)
const demote = ({ userId }: TestPerson) =>
  sql`update memberships set role = 'member' where user_id = ${userId}`.execute(server.database.db)
const addAdmin = () => addPerson(server, { role: 'admin', organizationId: server.admin.organizationId })
const addMember = () => addPerson(server, { role: 'member', organizationId: server.admin.organizationId })

/** Long timeout for busy machines. */
const patiently = { timeout: 60_000 }

type Refusal = { status: number; code: string }

/** Connects with a ticket. Returns the open client, or the refusal. */
const connect = (ticket: string, id = dockId): Promise<WebSocket | Refusal> =>
  new Promise((resolve, reject) => {
    const client = new WebSocket(`ws://127.0.0.1:${port}/v1/docks/${id}/terminal?ticket=${ticket}`)
    client.once('error', reject)
    client.once('open', () => {
      clients.push(client)
      resolve(client)
    })
    client.once('unexpected-response', (_, response) => {
      response.setEncoding('utf8').once('data', (text: string) => {
        resolve({ status: response.statusCode ?? 0, code: JSON.parse(text).code })
      })
    })
  })
const ask = (id = dockId, key = member.apiKey) =>
  server.call('POST', `/v1/docks/${id}/terminal`, undefined, key)
const ticketFor = async (id = dockId, key = member.apiKey): Promise<string> => {
  const answer = await ask(id, key)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return (answer.body.data as { ticket: string }).ticket
}
const open = async (id = dockId, key = member.apiKey) => {
  const count = shells.length
  const client = await connect(await ticketFor(id, key), id)
  if (!(client instanceof WebSocket)) throw new Error(client.code)
  return { client, terminal: shells[count]! }
}
const closing = async (client: WebSocket): Promise<number> => (await once(client, 'close'))[0] as number
const read = async (shell: Duplex): Promise<string> => String((await once(shell, 'data'))[0])

describe('a ticket', () => {
  it('is valid for thirty seconds, and stored as a hash', async () => {
    const answer = await ask()
    const { ticket, expiresAt } = answer.body.data as { ticket: string; expiresAt: string }
    expect(Date.parse(expiresAt) - clock.now().getTime()).toBe(30_000)
    const rows = await sql`select t::text as row from terminal_tickets t`.execute(server.database.db)
    expect(JSON.stringify(rows.rows)).not.toContain(ticket)
    clock.advance(30_000)
    expect(await connect(ticket)).toEqual({ status: 401, code: 'unauthorized' })
  })

  it('opens one terminal, even if several clients use it at once', async () => {
    const ticket = await ticketFor()
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => connect(ticket)))
    const refused = outcomes.filter((outcome) => !(outcome instanceof WebSocket))
    expect(refused).toEqual(Array.from({ length: 19 }, () => ({ status: 401, code: 'unauthorized' })))
    expect(shells).toHaveLength(1)
  })

  it('is valid only for its Dock, and only for a member', async () => {
    const other = await server.addDock()
    const ticket = await ticketFor()
    expect(await connect(ticket, other)).toEqual({ status: 401, code: 'unauthorized' })
    expect(await connect(ticket)).toBeInstanceOf(WebSocket)
    const person = await addMember()
    const theirs = await ticketFor(dockId, person.apiKey)
    await server.database.db.deleteFrom('memberships').where('user_id', '=', person.userId).execute()
    expect(await connect(theirs)).toEqual({ status: 404, code: 'dock_not_found' })
  })

  it('is invalid once its person may no longer see the secrets of the Dock', async () => {
    const admins = [await addAdmin(), await addAdmin()] as const
    const theirs = await ticketFor()
    await barMembers()
    expect(await connect(theirs)).toEqual({ status: 403, code: 'environment_secrets_admin_only' })
    const [first, second] = [
      await ticketFor(dockId, admins[0].apiKey),
      await ticketFor(dockId, admins[1].apiKey),
    ]
    await demote(admins[0])
    expect(await connect(first)).toEqual({ status: 403, code: 'environment_secrets_admin_only' })
    expect(await connect(second)).toBeInstanceOf(WebSocket)
  })

  it('accepts the id of the Dock in upper case', async () => {
    expect(await connect(await ticketFor(), dockId.toUpperCase())).toBeInstanceOf(WebSocket)
  })

  it('appears in no log line', async () => {
    const ticket = await ticketFor()
    await connect(ticket)
    await connect(ticket)
    expect(logged.length).toBeGreaterThan(0)
    expect(logged.filter((line) => line.includes(ticket))).toEqual([])
  })

  it('is refused for a Dock that cannot have a terminal', async () => {
    const stranger = await addPerson(server)
    expect((await ask(dockId, stranger.apiKey)).body.code).toBe('dock_not_found')
    expect((await ask(newUuid())).body.code).toBe('dock_not_found')
    const ticket = await ticketFor()
    await server.call('POST', `/v1/docks/${dockId}/stop`, {})
    expect((await ask()).body.code).toBe('dock_not_running')
    expect(await connect(ticket)).toEqual({ status: 409, code: 'dock_not_running' })
  })

  it('is issued at most thirty times a minute', async () => {
    const person = await addMember()
    const codes: number[] = []
    for (let count = 0; count < 31; count += 1) codes.push((await ask(dockId, person.apiKey)).status)
    expect(codes).toEqual([...Array.from({ length: 30 }, () => 201), 429])
  })

  it('that is missing, or a request that is not a WebSocket, gets an error that says so', async () => {
    expect(await connect('')).toEqual({ status: 400, code: 'validation_error' })
    expect(await connect('x', 'nonsense')).toEqual({ status: 404, code: 'dock_not_found' })
    const plain = await server.call('GET', `/v1/docks/${dockId}/terminal?ticket=x`, undefined, null)
    expect([plain.status, plain.body.code]).toEqual([400, 'validation_error'])
    const answered = new Promise<number>((resolve) => {
      const headers = { connection: 'Upgrade', upgrade: 'websocket' }
      request({ port, path: `/v1/docks/${dockId}/terminal?ticket=x`, method: 'POST', headers })
        .once('response', (response) => resolve(response.resume().statusCode ?? 0))
        .end()
    })
    expect(await answered).toBe(401)
  })
})

describe('a terminal', () => {
  it('carries bytes both ways, accepts sizes, and reports the exit code of its shell', async () => {
    const { client, terminal } = await open()
    expect(terminal.sizes).toEqual([{ cols: 80, rows: 24 }])
    client.send(Buffer.from('ls\r'))
    expect(await read(terminal.shell)).toBe('ls\r')
    client.send(JSON.stringify({ type: 'resize', cols: 120, rows: 40 }))
    await expect.poll(() => terminal.sizes.at(-1), patiently).toEqual({ cols: 120, rows: 40 })
    const frames: [string, boolean][] = []
    client.on('message', (data, isBinary) => frames.push([String(data), isBinary]))
    terminal.shell.write(Buffer.from('\x1b[31mred'))
    terminal.exit(7)
    expect(await closing(client)).toBe(1000)
    expect(frames).toEqual([
      ['\x1b[31mred', true],
      ['{"type":"exit","code":7}', false],
    ])
  })

  it.each(['{', '{"type":"resize","cols":0,"rows":24}', '{"type":"other"}', '[]'])(
    'closes on the text frame %s',
    async (text) => {
      const { client } = await open()
      const closed = closing(client)
      client.send(text)
      expect(await closed).toBe(1008)
    },
  )

  it('ends with its Dock, its host, and its client', async () => {
    const first = await open()
    first.terminal.exit(null)
    expect(await closing(first.client)).toBe(4002)
    const second = await open()
    second.terminal.shell.destroy(new Error('the link broke'))
    expect(await closing(second.client)).toBe(1011)
    const third = await open()
    third.client.close()
    await expect.poll(() => third.terminal.shell.destroyed, patiently).toBe(true)
  })

  it('is refused while the host cannot be reached', async () => {
    server.host.connections.unreachable = new HostUnreachable('no link')
    const refused = await connect(await ticketFor())
    server.host.connections.unreachable = null
    expect(refused).toEqual({ status: 503, code: 'service_unavailable' })
  })

  it('is closed within seconds of the end of its key or its membership', async () => {
    const keyed = await open()
    const closedByKey = closing(keyed.client)
    const { db } = server.database
    await db
      .updateTable('api_keys')
      .set({ revoked_at: clock.now() })
      .where('user_id', '=', member.userId)
      .execute()
    expect(await closedByKey).toBe(4003)
    const other = await addMember()
    const joined = await open(dockId, other.apiKey)
    const closedByMembership = closing(joined.client)
    await db.deleteFrom('memberships').where('user_id', '=', other.userId).execute()
    expect(await closedByMembership).toBe(4003)
  })

  it('is closed within seconds once its person may no longer see the secrets of the Dock', async () => {
    const admins = [await addAdmin(), await addAdmin()] as const
    const theirs = await open()
    const [demoted, kept] = [await open(dockId, admins[0].apiKey), await open(dockId, admins[1].apiKey)]
    // A sweep that is under way may close a client before the call that takes its access has returned.
    const [theirsClosed, demotedClosed] = [closing(theirs.client), closing(demoted.client)]
    /** Advances the clock over sweeps until the client is closed. */
    const sweepUntilClosed = ({ client }: { client: WebSocket }): Promise<void> =>
      expect
        .poll(() => {
          clock.advance(2_000)
          return client.readyState
        }, patiently)
        .toBe(WebSocket.CLOSED)
    await barMembers()
    await sweepUntilClosed(theirs)
    expect(await theirsClosed).toBe(4003)
    await demote(admins[0])
    await sweepUntilClosed(demoted)
    expect(await demotedClosed).toBe(4003)
    expect(kept.client.readyState).toBe(WebSocket.OPEN)
  })

  it('closes after thirty minutes without a byte, and after twelve hours', async () => {
    const quarterMs = 15 * 60_000
    const idle = await open()
    const busy = await open()
    const [idleClosed, busyClosed] = [closing(idle.client), closing(busy.client)]
    for (let quarter = 1; quarter <= 48; quarter += 1) {
      // The client's input follows its pong, so the service has received both.
      const typed = read(busy.terminal.shell)
      busy.client.send(Buffer.from('x'))
      await typed
      expect([quarter, busy.client.readyState]).toEqual([quarter, WebSocket.OPEN])
      const pinged = once(busy.client, 'ping')
      clock.advance(quarterMs)
      if (quarter < 48) await pinged
      if (quarter === 2) expect(await idleClosed).toBe(4000)
    }
    expect(idle.terminal.shell.destroyed).toBe(true)
    expect(await busyClosed).toBe(4001)
  })

  it('is refused beyond four per Dock and eight per person', async () => {
    const first = await open()
    for (let count = 0; count < 3; count += 1) await open()
    expect((await ask()).body.code).toBe('rate_limited')
    const person = await addMember()
    const theirs = (id: string) => open(id, person.apiKey)
    expect((await ask(dockId, person.apiKey)).body.code).toBe('rate_limited')
    const [one, two, three] = [await server.addDock(), await server.addDock(), await server.addDock()]
    const ticket = await ticketFor(three, person.apiKey)
    for (const id of [one, two]) for (let count = 0; count < 4; count += 1) await theirs(id)
    expect((await ask(three, person.apiKey)).body.code).toBe('rate_limited')
    expect(await connect(ticket, three)).toEqual({ status: 429, code: 'rate_limited' })
    first.client.close()
    await expect.poll(async () => (await ask()).status, patiently).toBe(201)
  })
})

describe('a client that is refused', () => {
  const pathWith = (ticket: string) => `/v1/docks/${dockId}/terminal?ticket=${ticket}`
  const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const refusedMs = 5_000
  const shellsDestroyed = () => shells.map(({ shell }) => shell.destroyed)

  it('for an invalid handshake gives its place back at once, and is cut off if it does not read', async () => {
    const { upgradeOf } = server.controlPlane.connectionHandlers
    // No write ever completes.
    const socket = new Duplex({ read: () => undefined, write: () => undefined })
    const asked = {
      method: 'GET',
      url: pathWith(await ticketFor()),
      headers: { ...headers, 'sec-websocket-key': 'nonsense' },
    } as unknown as IncomingMessage
    await upgradeOf(new URL(asked.url ?? '', 'http://x').pathname, 'websocket')?.(
      asked,
      socket,
      Buffer.alloc(0),
    )
    await expect.poll(shellsDestroyed, patiently).toEqual([true])
    for (let count = 0; count < 4; count += 1) await open()
    clock.advance(refusedMs - 1)
    expect(socket.destroyed).toBe(false)
    clock.advance(1)
    expect(socket.destroyed).toBe(true)
  })

  it('for an invalid handshake is told so, and disconnected', async () => {
    const ticket = await ticketFor()
    const socket = createConnection(port, '127.0.0.1')
    const lines = Object.entries({ host: 'x', ...headers, 'sec-websocket-key': 'nonsense' })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    socket.write(`GET ${pathWith(ticket)} HTTP/1.1\r\n${head}\r\n`)
    expect(String(Buffer.concat(await socket.toArray()))).toMatch(/^HTTP\/1.1 400 /)
    await expect.poll(shellsDestroyed, patiently).toEqual([true])
  })

  it('for an unknown ticket is cut off if it stays', async () => {
    const socket = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => undefined).resume()
    const lines = Object.entries({ host: 'x', ...headers, 'sec-websocket-key': `${'A'.repeat(22)}==` })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    socket.write(`GET ${pathWith('unknown')} HTTP/1.1\r\n${head}\r\n`)
    await once(socket, 'end')
    clock.advance(refusedMs)
    // The kernel resets a connection that the server has closed when more data arrives.
    await expect.poll(() => (socket.destroyed ? 'cut' : socket.write('x')), patiently).toBe('cut')
  })
})

/** Advances the clock by this many pings. A client that answers none is disconnected at the third. */
const advancePings = (count: number): void => {
  for (let ping = 0; ping < count; ping += 1) clock.advance(20_000)
}

describe('a client that answers no ping', () => {
  it('is disconnected, even though its shell keeps printing', async () => {
    const { client, terminal } = await open()
    client.pause()
    for (let ping = 0; ping < 3; ping += 1) {
      expect([ping, terminal.shell.destroyed]).toEqual([ping, false])
      await new Promise((resolve) => terminal.shell.write('x', resolve))
      advancePings(1)
    }
    await expect.poll(() => terminal.shell.destroyed, patiently).toBe(true)
  })

  it('stays connected as long as it types', async () => {
    const { client, terminal } = await open()
    vi.spyOn(client, 'pong').mockReturnValue()
    for (let ping = 0; ping < 6; ping += 1) {
      const typed = read(terminal.shell)
      client.send(Buffer.from('x'))
      expect([ping, await typed]).toEqual([ping, 'x'])
      advancePings(1)
    }
  })
})

describe('backpressure', () => {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const total = 64 * 1024 * 1024

  /** Returns the value once it stops changing. */
  const settled = async (value: () => number): Promise<number> => {
    let before = -1
    while (before !== value()) {
      before = value()
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    return before
  }
  /** Prints until backpressure stops it. Returns the number of bytes printed by then. */
  const flood = (shell: Duplex): Promise<number> => {
    let sent = 0
    const fill = (): void => {
      while (sent < total) {
        sent += chunk.length
        if (!shell.write(chunk)) return void shell.once('drain', fill)
      }
    }
    fill()
    return settled(() => sent)
  }

  it('stops a shell whose client does not read, and loses no bytes', async () => {
    const { client, terminal } = await open()
    client.pause()
    expect(await flood(terminal.shell)).toBeLessThan(total / 2)
    // The pings wait behind the output that the client has not read.
    advancePings(30)
    let received = 0
    client.on('message', (data) => {
      received += (data as Buffer).length
    })
    client.resume()
    await expect.poll(() => received, patiently).toBe(total)
  })

  it('lasts thirty idle minutes for a client that reads nothing, then closes the terminal', async () => {
    const { client, terminal } = await open()
    client.pause()
    await flood(terminal.shell)
    advancePings(89)
    expect(await settled(() => terminal.shell.writableLength)).toBeGreaterThan(0)
    expect(terminal.shell.destroyed).toBe(false)
    advancePings(1)
    await expect.poll(() => terminal.shell.destroyed, patiently).toBe(true)
  })

  it('stops a client whose shell does not read, and loses no bytes', async () => {
    const { client, terminal } = await open()
    for (let sent = 0; sent < total; sent += chunk.length) client.send(chunk)
    expect(await settled(() => client.bufferedAmount)).toBeGreaterThan(total / 2)
    // The client's pongs wait behind the input that the shell has not read.
    advancePings(30)
    let received = 0
    terminal.shell.on('data', (data: Buffer) => {
      received += data.length
    })
    await expect.poll(() => received, patiently).toBe(total)
  })
})
