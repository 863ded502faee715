/** Tests the git door when an organization has its maximum of connections, over streams like those of a link. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type Duplex, duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createLogger } from '@dock/foundation'
import { afterEach, expect, it } from 'vitest'
import { createGitDoor, type GitDoor, type GitDoorTimes } from './git-door.ts'

const logger = createLogger('test')
logger.level = 'silent'
const head = 'GET /github/acme/app/info/refs?service=git-upload-pack HTTP/1.1\r\nhost: x\r\n\r\n'
let door: GitDoor
afterEach(() => door.close())

/** Opens a door. Returns a function that connects to it from a Dock. */
const open = (times?: Partial<GitDoorTimes>) => {
  const waiting = new Map<string, Duplex>()
  door = createGitDoor({
    logger,
    servers: { github: 'https://github.com', gitlab: 'https://gitlab.com' },
    hosts: { connectGit: async ({ connectionId }) => waiting.get(connectionId)! },
    grantFor: async () => null,
    organizationOf: async (dock) => dock.dockId.split('/')[0]!,
    ...(times ? { times } : {}),
  })
  return (dockId: string): Duplex => {
    const connectionId = randomUUID()
    const [git, stream] = duplexPair()
    // As over a link, the end of one direction leaves the other open, and an error closes both.
    git.on('error', () => undefined).once('close', () => stream.destroy())
    stream.once('close', () => git.destroy())
    waiting.set(connectionId, stream)
    door.take('host', { type: 'git.connected', connectionId, dockId, generation: 1 })
    return git
  }
}

const ask = async (git: Duplex): Promise<string> => {
  git.write(head)
  return text(git)
}

it('a connection beyond its organization’s share gets 503, and is served once another has ended', async () => {
  const connect = open()
  const held: Duplex[] = []
  // Silent connections: 4 of each Dock's own and 128 that are shared.
  for (let dock = 0; dock < 11; dock++)
    for (let count = 0; count < (dock < 10 ? 16 : 12); count++) held.push(connect(`acme/${dock}`))
  const crowded = connect('acme/10')
  const answer = await ask(crowded)
  expect(answer).toMatch(/^HTTP\/1\.1 503 /)
  expect(answer).toContain('The Docks of this organization have too many git connections. Try again')
  expect(await ask(connect('other/1'))).toMatch(/^HTTP\/1\.1 302 /)
  const last = held.at(-1)!
  last.destroy()
  await expect.poll(() => ask(connect('acme/10'))).toMatch(/^HTTP\/1\.1 302 /)
})

it('a refused connection ends soon, even if its client sends nothing or reads nothing', async () => {
  const connect = open({ refusedMs: 100 })
  for (let count = 0; count < 16; count++) connect('acme/1')
  const [silent, deaf] = [connect('acme/1'), connect('acme/1')]
  deaf.write(head)
  await Promise.all([once(silent.resume(), 'close'), once(deaf, 'close')])
})

it('a connection that its client leaves open after the response is closed', async () => {
  const git = open({ lingerMs: 100 })('acme/1')
  git.write(head)
  await once(git.resume(), 'end')
  await once(git, 'close')
})
