/** The size of a terminal while the gateway starts its shell. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ssh2, { type ClientChannel } from 'ssh2'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SshWorld, startSshWorld } from './ssh-world.ts'

let world: SshWorld

beforeAll(async () => {
  world = await startSshWorld()
})
afterAll(() => world?.stop())

it('a size that arrives while the shell is being started reaches the shell', async () => {
  const { host } = world.server
  const dockId = await world.server.addDock()
  const privateKey = await readFile(join(world.client.folder, 'id'), 'utf8')
  const client = new ssh2.Client()
  client.connect({ host: '127.0.0.1', port: world.port, username: dockId, privateKey })
  await once(client, 'ready')

  const { openProcess } = host
  const asked = Promise.withResolvers<object | undefined>()
  const held = Promise.withResolvers<void>()
  host.openProcess = async (dock, request) => {
    host.openProcess = openProcess
    asked.resolve(request.pty)
    await held.promise
    return openProcess(dock, request)
  }
  const shell = await new Promise<ClientChannel>((resolve, reject) => {
    client.shell({ rows: 24, cols: 80 }, (error, channel) => (error ? reject(error) : resolve(channel)))
  })
  expect(await asked.promise).toEqual({ cols: 80, rows: 24 })
  shell.setWindow(33, 111, 0, 0)
  shell.setWindow(44, 122, 0, 0)
  // Answered after everything before it.
  await new Promise((resolve, reject) => {
    client.exec('true', (error, channel) => (error ? reject(error) : resolve(channel)))
  })
  held.resolve()

  let said = ''
  shell.on('data', (bytes: Buffer) => {
    said += bytes
  })
  const wait =
    'until [ "$(stty size)" = "44 122" ]; do sleep 0.1; done; echo "the size is $(stty size)"; exit\n'
  shell.write(wait)
  await once(shell, 'close')
  expect(said).toContain('the size is 44 122')
  client.end()
})
