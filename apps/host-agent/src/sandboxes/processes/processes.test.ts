import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Duplex, duplexPair } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { newOperationId, newUuid } from '@dock/foundation'
import {
  encodeFrame,
  encodeMessage,
  FrameReader,
  type IncomingConnection,
  type ProcessEnd,
  readMessage,
} from '@dock/host-protocol'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'

let host: Awaited<ReturnType<typeof createMemoryHost>>
let dockId: string
beforeEach(async () => {
  host = await createMemoryHost()
  dockId = newUuid()
  await host.agent.docks.getForCommand(dockId).start(startCommand())
})
afterEach(async () => {
  host.driver.kill(dockId)
  await host.remove()
})

/** Long, for a busy machine. */
const patiently = { timeout: 60_000 }

const endOfInput = encodeFrame('end', Buffer.alloc(0))

type Seen = { stdout: string; stderr: string; end: ProcessEnd | null }
type Opened = { stream: Duplex; seen: Seen; id: string; leave(): void }

/** The control plane's side of a connection. Throws the code of a refusal. */
const open = async (
  request: object,
  id = newUuid(),
  dock = dockId,
  query = '',
  kind = 'processes',
): Promise<Opened> => {
  const [near, far] = duplexPair()
  let refusal = ''
  const connection: IncomingConnection = {
    target: new URL(`/docks/${dock}/${kind}/${id}?${query}`, 'http://agent'),
    gone: new AbortController().signal,
    accept: () => far,
    readMessage: (bytesMax) => readMessage(far, bytesMax),
    beginDialBack: () => undefined,
    acceptByDialBack: async () => far,
    refuse: (_status, { code }) => {
      refusal = code
    },
  }
  near.write(encodeMessage(Buffer.from(JSON.stringify({ generation: 1, env: {}, cwd: '/tmp', ...request }))))
  await host.agent.connect(connection)
  if (refusal) throw new Error(refusal)
  const seen: Seen = { stdout: '', stderr: '', end: null }
  const reader = new FrameReader({
    stdout: (bytes) => {
      seen.stdout += bytes
    },
    stderr: (bytes) => {
      seen.stderr += bytes
    },
    end: (text) => {
      seen.end = JSON.parse(text)
    },
  })
  near.on('data', (chunk: Buffer) => reader.feed(chunk))
  return { stream: near, seen, id, leave: () => void far.destroy() }
}
const post = (id: string, verb: string, body: object) =>
  host.agent.app.request(`/docks/${dockId}/processes/${id}/${verb}`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a process gets its input, and sends both outputs and its end', async () => {
  const { stream, seen } = await open({ command: 'echo "$WORD" >&2; cat; exit 3', env: { WORD: 'word' } })
  stream.write(encodeFrame('stdin', Buffer.from('input')))
  stream.write(endOfInput)
  await expect.poll(() => seen.end, patiently).toEqual({ exitCode: 3, signal: null })
  expect(seen).toMatchObject({ stdout: 'input', stderr: 'word\n' })
})

test('a process that closes its input does not hold the sender up', async () => {
  const { stream, seen } = await open({ command: 'exec <&-; echo closed; sleep 0.2; echo over' })
  for (let sent = 0; sent < 64; sent += 1)
    if (!stream.write(encodeFrame('stdin', Buffer.alloc(65_536))))
      await new Promise((resolve) => stream.once('drain', resolve))
  await expect.poll(() => seen.end, patiently).toEqual({ exitCode: 0, signal: null })
  expect(seen.stdout).toBe('closed\nover\n')
})

test('a process is signalled and resized by its id', async () => {
  const command = 'trap "stty size" WINCH; trap "echo heard" USR1; echo ready; while :; do sleep 0.05; done'
  const { id, seen } = await open({ command, pty: { cols: 90, rows: 30 } })
  await expect.poll(() => seen.stdout, patiently).toContain('ready')
  expect((await post(id, 'signal', { signal: 'USR1' })).status).toBe(200)
  await expect.poll(() => seen.stdout, patiently).toContain('heard')
  expect((await post(id, 'resize', { cols: 132, rows: 50 })).status).toBe(200)
  await expect.poll(() => seen.stdout, patiently).toContain('50 132')
  expect((await post(id, 'signal', { signal: 'NONE' })).status).toBe(400)
  expect((await post(id, 'signal', { signal: 'KILL' })).status).toBe(200)
  await expect.poll(() => seen.end, patiently).toEqual({ exitCode: null, signal: 'KILL' })
  expect((await post(id, 'signal', { signal: 'KILL' })).status).toBe(200)
})

test('a broken connection hangs up the process group, but not a daemon', async () => {
  const { seen, leave } = await open({
    command: 'sleep 60 & echo $!; setsid sleep 61 >/dev/null & echo $!; wait',
  })
  await expect.poll(() => seen.stdout.split('\n'), patiently).toHaveLength(3)
  const [inGroup = 0, daemon = 0] = seen.stdout.split('\n').map(Number)
  // Before, it is in the group that is hung up.
  await expect.poll(() => readFileSync(`/proc/${daemon}/comm`, 'utf8'), patiently).toBe('sleep\n')
  leave()
  await expect.poll(() => isAlive(inGroup), patiently).toBe(false)
  expect(isAlive(daemon)).toBe(true)
  process.kill(daemon)
})

test('a connection that ends without the end of the input is a hang-up, as is one that breaks the protocol', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dock-processes-'))
  for (const last of [Buffer.alloc(0), encodeFrame('stdout', Buffer.from('not upwards'))]) {
    const file = join(folder, newUuid())
    const { stream, seen } = await open({ command: `echo $$; cat >${file}.part; mv ${file}.part ${file}` })
    await expect.poll(() => seen.stdout, patiently).toContain('\n')
    stream.write(encodeFrame('stdin', Buffer.from('half of a file')))
    stream.end(last)
    await expect.poll(() => isAlive(Number(seen.stdout)), patiently).toBe(false)
    expect(existsSync(file)).toBe(false)
  }
  rmSync(folder, { recursive: true })
})

/** Leaves a process behind that holds the outputs, and returns its pid when the program has ended. */
const leaveHolder = async (): Promise<Opened & { holder: number }> => {
  const opened = await open({ command: 'sleep 60 & echo $! $$' }, newUuid(), dockId, 'waitsForOutputs=1')
  await expect.poll(() => opened.seen.stdout, patiently).toContain('\n')
  const [holder = 0, program = 0] = opened.seen.stdout.split(' ').map(Number)
  await expect.poll(() => isAlive(program), patiently).toBe(false)
  return { ...opened, holder }
}
const isIdle = () => [...host.agent.docks.live()].some((dock) => dock.idle !== null)

test('a process that waits for its outputs is attached until nobody holds them', async () => {
  const { seen, holder } = await leaveHolder()
  expect([isIdle(), seen.end]).toEqual([false, null])
  process.kill(holder)
  await expect.poll(() => seen.end, patiently).toEqual({ exitCode: 0, signal: null })
  expect(isIdle()).toBe(true)
})

test('a process that waits for its outputs ends with its Dock', async () => {
  const { seen, holder } = await leaveHolder()
  host.driver.kill(dockId)
  await expect.poll(() => seen.end, patiently).toEqual({ exitCode: 0, signal: null })
  process.kill(holder)
})

test('a broken connection hangs up what holds the outputs of a program that has ended', async () => {
  const { leave, holder } = await leaveHolder()
  leave()
  await expect.poll(() => isAlive(holder), patiently).toBe(false)
  await expect.poll(isIdle, patiently).toBe(true)
})

test('a closed output is not waited for', async () => {
  const { stream, seen } = await open(
    { command: 'sleep 60 2>/dev/null & echo $!' },
    newUuid(),
    dockId,
    'waitsForOutputs=1',
  )
  await expect.poll(() => seen.stdout, patiently).toContain('\n')
  stream.write(encodeFrame('closeStdout', Buffer.alloc(0)))
  await expect.poll(() => seen.end, patiently).toEqual({ exitCode: 0, signal: null })
  process.kill(Number(seen.stdout))
})

test('a Dock that stops ends its processes without a code', async () => {
  const { seen } = await open({ argv: ['sleep', '60'] })
  host.driver.kill(dockId)
  await expect.poll(() => seen.end, patiently).toEqual({ exitCode: null, signal: null })
})

test('a Dock that stops hangs up the shells on its terminals, which then end without a code', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dock-processes-'))
  const file = join(folder, 'hung')
  const { stream, seen } = await open({ pty: { cols: 80, rows: 24 } })
  const program = `trap 'echo hung >${file}; exit' HUP; echo re""ady; while :; do sleep 0.05; done`
  writeFileSync(join(folder, 'program'), program)
  stream.write(encodeFrame('stdin', Buffer.from(`bash ${join(folder, 'program')}\r`)))
  await expect.poll(() => seen.stdout, patiently).toContain('ready')
  host.driver.setProcesses(dockId, ['script'])
  const stopping = host.agent.docks.getForCommand(dockId).stop({
    ...{ operationId: newOperationId(), generation: 1, captureId: newUuid() },
  })
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8'), patiently).toBe('hung\n')
  await expect.poll(() => seen.end, patiently).toEqual({ exitCode: null, signal: null })
  host.driver.setProcesses(dockId, [])
  await stopping
  rmSync(folder, { recursive: true })
})

test('a reader that never reads blocks the writer, and gets every byte later', async () => {
  const { stream, seen } = await open({ argv: ['head', '-c', '8388608', '/dev/zero'] })
  stream.pause()
  let before = -1
  while (before !== seen.stdout.length + stream.readableLength) {
    before = seen.stdout.length + stream.readableLength
    await delay(300)
  }
  expect(seen.end).toBeNull()
  expect(before).toBeLessThan(2 ** 20)
  stream.resume()
  await expect.poll(() => seen.end, patiently).toEqual({ exitCode: 0, signal: null })
  expect(seen.stdout).toHaveLength(8_388_608)
})

test('the Dock is in use while a process runs, and until it was hung up', async () => {
  const { leave } = await open({ argv: ['sleep', '60'] })
  expect(isIdle()).toBe(false)
  leave()
  await expect.poll(isIdle, patiently).toBe(true)
})

test('at most 64 processes are attached; the end of one makes room', async () => {
  const opened = await Promise.all(Array.from({ length: 64 }, () => open({ argv: ['cat'] })))
  await expect(open({ argv: ['cat'] })).rejects.toThrow('busy')
  opened[0]!.stream.write(endOfInput)
  await expect.poll(() => opened[0]!.seen.end, patiently).toEqual({ exitCode: 0, signal: null })
  await expect(open({ argv: ['true'] })).resolves.toBeDefined()
  for (const { leave } of opened) leave()
})

test('refuses invalid requests, missing programs, old generations and unknown Docks', async () => {
  const id = newUuid()
  await open({ argv: ['sleep', '60'] }, id)
  await expect(open({ argv: ['true'] }, id)).rejects.toThrow('busy')
  await expect(open({ argv: ['true'], command: 'true' })).rejects.toThrow('invalid')
  await expect(open({ argv: [] })).rejects.toThrow('invalid')
  await expect(open({ command: 'true', pty: { cols: 0, rows: 1 } })).rejects.toThrow('invalid')
  await expect(open({ argv: ['/no/such'] })).rejects.toThrow('exec_refused')
  await expect(open({ command: 'true', generation: 2 })).rejects.toThrow('not_running')
  await expect(open({ command: 'true' }, newUuid(), newUuid())).rejects.toThrow('not_running')
  await expect(open({ command: 'true' }, 'first')).rejects.toThrow('invalid')
  await expect(open({}, '70000', dockId, 'generation=1', 'ports')).rejects.toThrow('invalid')
  await expect(open({}, newUuid(), dockId, '', 'elsewhere')).rejects.toThrow('not_found')
})
