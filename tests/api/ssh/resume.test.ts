import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SshClient } from './ssh-client.ts'
import { type SshWorld, startSshWorld } from './ssh-world.ts'

let world: SshWorld
let client: SshClient
let dockId: string

beforeAll(async () => {
  world = await startSshWorld()
  client = world.client
})
afterAll(() => world?.stop())
beforeEach(async () => {
  dockId = await world.server.addDock()
  const stopped = await world.server.call('POST', `/v1/docks/${dockId}/stop`, {})
  expect(stopped.body.data).toMatchObject({ state: 'archived' })
})

const stateOf = async (): Promise<string> => {
  const answer = await world.server.call('GET', `/v1/docks/${dockId}`)
  return (answer.body.data as { state: string }).state
}
const startShell = (): {
  child: ChildProcessWithoutNullStreams
  ended: Promise<{ code: number; output: string }>
} => {
  const child = client.start('ssh', [...client.options(), '-tt', '-l', dockId, '127.0.0.1'])
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      output += text
    })
  const ended = once(child, 'close').then(([code]) => ({ code: code as number, output }))
  return { child, ended }
}

describe('an archived Dock', () => {
  it('is resumed by a shell in a terminal, which shows the progress', async () => {
    const { child, ended } = startShell()
    child.stdin.end('echo "$((40 + 2)) words"; exit 6\n')
    const { code, output } = await ended
    expect(output).toMatch(/' is stopped\. Resuming it\.\r\n(.*\r\n)*.*' is ready after [0-9.]+ s\.\r\n/)
    expect(output).toContain('42 words')
    expect(code).toBe(6)
    expect(['ready', 'running', 'idle']).toContain(await stateOf())
  })

  it('stays archived for everything else, with one line that says how to resume it', async () => {
    const expected = {
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^dock: '.*' is stopped\. Resume it .*\n$/),
    }
    expect(await client.ssh(dockId, 'true')).toMatchObject(expected)
    expect(await client.ssh(dockId, '-T')).toMatchObject(expected)
    const inTerminal = await client.ssh(dockId, '-tt', 'true')
    expect([inTerminal.code, inTerminal.stderr]).toEqual([1, expect.stringContaining('is stopped')])
    const copied = await client.run('scp', [...client.options(), 'id.pub', `${dockId}@127.0.0.1:x`])
    expect(copied.stderr).toContain('is stopped')
    const forwarded = await client.ssh(dockId, '-W', 'localhost:80')
    expect(forwarded.code).not.toBe(0)
    expect(await stateOf()).toBe('archived')
  })

  it('is resumed once by two shells', async () => {
    const starts = world.server.host.starts.length
    const shells = [startShell(), startShell()]
    for (const { child } of shells) child.stdin.end('exit 0\n')
    const ended = await Promise.all(shells.map((shell) => shell.ended))
    expect(ended.map(({ code }) => code)).toEqual([0, 0])
    expect(world.server.host.starts.length - starts).toBe(1)
  })

  it('that cannot be resumed says why', async () => {
    world.server.host.failures.set('start', ['no_space', 'no_space', 'no_space', 'no_space'])
    const { ended } = startShell()
    const { code, output } = await ended
    world.server.host.failures.delete('start')
    expect(code).toBe(1)
    expect(output).toMatch(/dock: .+\r\n/)
  })
})
