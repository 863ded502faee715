import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type Duplex, duplexPair } from 'node:stream'
import { expect, it } from 'vitest'
import { ConnectionCounts } from './connection-counts.ts'
import { DockAgent, hostOf } from './dock-agent.ts'

const host = hostOf({ dockId: 'd', generation: 1 }, 'h')

it('does not reuse a connection that the program closed after its response', async () => {
  const programs: Duplex[] = []
  const agent = new DockAgent(async () => {
    const [stream, program] = duplexPair()
    programs.push(program)
    program.once('data', () => program.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'))
    const same = () => stream
    return Object.assign(stream, { setTimeout: same, setKeepAlive: same, ref: same, unref: same })
  }, new ConnectionCounts())
  for (const count of [1, 2, 3]) {
    const freed = once(agent, 'free')
    const [response] = (await once(request({ host, port: 1, agent }).end(), 'response')) as [IncomingMessage]
    expect(Buffer.concat(await response.toArray()).toString()).toBe('hello')
    await freed
    expect(programs.length).toBe(count)
    const program = programs.at(-1)!
    program.end()
    await once(program.resume(), 'close', { signal: AbortSignal.timeout(5_000) })
  }
  agent.destroy()
})
