/** Tests the pump with a guest that lies on its second port. Needs root and control groups. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@dock/foundation'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { types } from '../link/protocol.ts'
import { FakeGuest, words } from '../link/testing/fake-guest.ts'
import { MachineGroup } from '../machine/jail/machine-group.ts'
import { Pump } from './pump.ts'

const id = `pump-test-${process.pid}`
let folder: string
let guest: FakeGuest
let server: Server

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dock-pump-'))
  guest = new FakeGuest()
  server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        guest.connection.write(chunk)
        if (guest.heard.length === 1) guest.welcome()
      })
    guest.connection.on('data', (bytes: Buffer) => socket.write(bytes))
  })
  await new Promise<void>((resolve) => server.listen(join(folder, 'port.1'), resolve))
})
afterEach(async () => {
  await MachineGroup.ofMachine(id).end()
  server.close()
  rmSync(folder, { recursive: true })
})

test('a guest that violates the protocol on its second port loses its machine', async () => {
  const group = MachineGroup.ofMachine(id)
  group.create({ cpus: 1, memoryBytes: 64 * 2 ** 20 })
  const command = 'for folder in $0; do echo $$ >"$folder/cgroup.procs" || exit 9; done; exec sleep 1000'
  const machine = spawn('sh', ['-c', command, group.folders.join(' ')])
  const died = once(machine, 'exit')
  await expect.poll(() => group.pids().length).toBe(1)

  const pump = new Pump(createLogger('test', { write: () => undefined }))
  const descriptors = [openSync('/dev/null', 'r'), openSync('/dev/null', 'w'), openSync('/dev/null', 'w')]
  const taking = pump.take({
    ...{ machine: id, socket: join(folder, 'port.1'), program: 7, pid: process.pid },
    descriptors: descriptors as [number, number, number],
  })
  await expect.poll(() => guest.heard.at(-1)?.type).toBe(types.attach)
  const attached = Buffer.alloc(40)
  attached.writeUInt32LE(100, 0)
  guest.say(types.attached, 0, 7, attached)
  const { ended } = await taking
  for (const descriptor of descriptors) closeSync(descriptor)
  expect(group.pids().length).toBe(1)

  guest.say(types.reply, 0, 99, words(0))
  expect(await ended).toBeNull()
  expect((await died)[1]).toBe('SIGKILL')
  await expect.poll(() => pump.isNeeded).toBe(false)
})
