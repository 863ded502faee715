import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { createLogger, newUuid } from '@dock/foundation'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { KeeperSettings } from '../../process-keeper/keeper-settings.ts'
import { ProcessKeeper } from './process-keeper.ts'

const logger = createLogger('test')
logger.level = 'silent'

let folder: string
let keeper: ProcessKeeper
const dockId = newUuid()
const children: ChildProcess[] = []

const open = (settings: Partial<KeeperSettings> = {}): ProcessKeeper =>
  new ProcessKeeper({ folder: join(folder, 'output'), runFolder: folder, settings }, logger)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keeper-'))
  keeper = open()
})
afterEach(async () => {
  await keeper.end()
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** Starts a real program with the keeper's pipes as its streams, as the agent does. */
const start = async (script: string, by = keeper, holdOutput = false) => {
  const id = newUuid()
  const paths = await by.create(dockId, id, { stdin: true, stderr: true, holdOutput })
  const descriptors = [
    openSync(paths.stdin, 'r'),
    openSync(paths.stdout, 'w'),
    openSync(paths.stderr ?? '', 'w'),
  ]
  const child = spawn('bash', ['-c', script], { stdio: descriptors })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  for (const descriptor of descriptors) closeSync(descriptor)
  await by.markStarted(dockId, id)
  children.push(child)
  return { id, exited }
}

const read = async (id: string, offset = 0, { follow = true, by = keeper } = {}) => {
  const { body } = await by.openOutput(dockId, id, 'stdout', { offset, follow })
  return Buffer.concat(await body.toArray())
}
const state = async (id: string, by = keeper) => (await by.states(dockId))[id]!
const write = (id: string, offset: number | 'next', text: string) =>
  keeper.writeInput(dockId, id, offset, Readable.from([Buffer.from(text)]))
const keeperStatus = () =>
  new Promise<{ pid: number }>((resolve, reject) => {
    request({ socketPath: join(folder, 'keeper.sock'), path: '/' }, async (response) => {
      resolve(JSON.parse(Buffer.concat(await response.toArray()).toString()))
    })
      .on('error', reject)
      .end()
  })
const residentMiB = async (pid: number): Promise<number> =>
  Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
const descriptorsOf = async (pid: number): Promise<number> => (await readdir(`/proc/${pid}/fd`)).length
const isOpen = async (id: string) => (await state(id)).stdout.isOpen

it('keeps both outputs of a program, and tells where they end', async () => {
  const { id, exited } = await start('echo out; echo err >&2')
  await exited
  expect((await read(id)).toString()).toBe('out\n')
  const stderr = await keeper.openOutput(dockId, id, 'stderr', { offset: 0, follow: true })
  expect(Buffer.concat(await stderr.body.toArray()).toString()).toBe('err\n')
  expect(await state(id)).toMatchObject({
    stdout: { first: 0, end: 4, isOpen: false },
    stderr: { first: 0, end: 4, isOpen: false },
    lost: false,
  })
})

it('answers further requests after an input that no process read to its end', async () => {
  // Among these lengths are some that the agent has sent to the end, and the keeper has not read to it.
  for (let length = 180_000; length < 340_000; length += 8_000) {
    const { id } = await start('exec sleep 60')
    const writing = write(id, 'next', 'x'.repeat(length)).catch((error: unknown) => error)
    await expect.poll(async () => (await state(id)).stdin.offset).toBeGreaterThan(60_000)
    children.at(-1)!.kill('SIGKILL')
    expect(await writing).toMatchObject({ code: 'conflict' })
    expect(await state(id)).toMatchObject({ stdin: { isOpen: false } })
  }
})

it('outlives the agent that started it, and a later agent reads on by offset', async () => {
  const starter = `
    const { ProcessKeeper } = await import(${JSON.stringify(new URL('./process-keeper.ts', import.meta.url))})
    const { createLogger } = await import('@dock/foundation')
    const place = ${JSON.stringify({ folder: join(folder, 'output'), runFolder: folder })}
    await new ProcessKeeper(place, createLogger('test')).states('${dockId}')
    process.kill(process.pid, 'SIGKILL')`
  const agent = spawn(process.execPath, ['--input-type=module', '-e', starter], { stdio: 'ignore' })
  await new Promise((resolve) => agent.once('exit', resolve))
  const { pid } = await keeperStatus()
  const { id } = await start('for i in {1..20}; do echo $i; sleep 0.01; done')
  const { body } = await keeper.openOutput(dockId, id, 'stdout', { offset: 0, follow: true })
  let seen = ''
  for await (const chunk of body) {
    seen += chunk
    if (seen.length > 5) break
  }
  seen += await read(id, seen.length, { by: open() })
  expect(seen).toBe(Array.from({ length: 20 }, (_, index) => `${index + 1}\n`).join(''))
  expect((await keeperStatus()).pid).toBe(pid)
})

it('drops nothing before the first reader if it holds the output', async () => {
  const by = open({ segmentBytes: 65_536, streamBytesMax: 131_072 })
  const { id, exited } = await start('seq 100000; seq 100000 >&2', by, true)
  await expect.poll(async () => (await state(id, by)).stdout.end).toBeGreaterThan(0)
  const expected = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join('')
  const stderr = await by.openOutput(dockId, id, 'stderr', { offset: 0, follow: true })
  const [one, other] = await Promise.all([read(id, 0, { by }), stderr.body.toArray()])
  expect([one.toString() === expected, Buffer.concat(other).toString() === expected]).toEqual([true, true])
  await exited
})

it('holds a program that nobody reads only for as long as a reader may', async () => {
  const by = open({ segmentBytes: 65_536, streamBytesMax: 131_072, holdMs: 50 })
  const { id, exited } = await start('seq 100000', by, true)
  await exited
  await expect.poll(async () => (await state(id, by)).stdout).toMatchObject({ end: 588_895, isOpen: false })
  expect((await state(id, by)).stdout.first).toBeGreaterThan(0)
})

it('waits with a reader that follows for an offset that the program has not reached', async () => {
  const { id } = await start('read; echo one; echo two')
  const early = await keeper.openOutput(dockId, id, 'stdout', { offset: 4, follow: true })
  const late = await keeper.openOutput(dockId, id, 'stdout', { offset: 9, follow: true })
  const now = keeper.openOutput(dockId, id, 'stdout', { offset: 4, follow: false })
  await expect(now).rejects.toMatchObject({ code: 'conflict' })
  await write(id, 0, '\n')
  expect(Buffer.concat(await early.body.toArray()).toString()).toBe('two\n')
  await expect(late.body.toArray()).rejects.toThrow()
})

it('writes input once that is sent twice, and refuses input that leaves a gap', async () => {
  const { id, exited } = await start('cat')
  expect(await write(id, 0, 'one ')).toEqual({ offset: 4 })
  expect(await write(id, 0, 'one ')).toEqual({ offset: 4 })
  expect(await write(id, 2, 'e two ')).toEqual({ offset: 8 })
  await expect(write(id, 9, 'x')).rejects.toMatchObject({ code: 'conflict' })
  expect((await state(id)).stdin).toEqual({ offset: 8, isOpen: true })
  await keeper.closeInput(dockId, id)
  await exited
  expect((await read(id)).toString()).toBe('one two ')
  await expect(write(id, 8, 'x')).rejects.toMatchObject({ code: 'conflict' })
})

it('keeps the connection of a refused input open, so that what is still on its way cuts no response', async () => {
  const { id } = await start('cat')
  const path = `/docks/${dockId}/processes/${id}/stdin?offset=5`
  const asked = request({ socketPath: join(folder, 'keeper.sock'), method: 'POST', path })
  const failures: Error[] = []
  asked.on('error', (error) => failures.push(error))
  asked.flushHeaders()
  const response = await new Promise<IncomingMessage>((resolve) => asked.once('response', resolve))
  expect(response.statusCode).toBe(409)
  expect(Buffer.concat(await response.toArray()).toString()).toContain('conflict')
  asked.write('late')
  await new Promise((resolve) => asked.end(resolve))
  await keeperStatus()
  expect(failures).toEqual([])
})

it('appends the input of several writers in the order of arrival', async () => {
  const { id, exited } = await start('cat')
  const open = new PassThrough()
  const appended = keeper.writeInput(dockId, id, 'next', open)
  const grown = (offset: number) => expect.poll(async () => (await state(id)).stdin.offset).toBe(offset)
  open.write('one ')
  await grown(4)
  expect(await write(id, 'next', 'two ')).toEqual({ offset: 8 })
  open.write('three ')
  await grown(14)
  open.end()
  expect(await appended).toEqual({ offset: 14 })
  await keeper.closeInput(dockId, id)
  await exited
  expect((await read(id)).toString()).toBe('one two three ')
  await expect(write(id, 'next', 'x')).rejects.toMatchObject({ code: 'conflict' })
})

it('says so when the program no longer reads its input', async () => {
  const { id } = await start('exec <&-; echo closed; sleep 60')
  await expect.poll(async () => (await state(id)).stdout.end).toBe(7)
  const all = async () => {
    for (let offset = 0; ; offset += 1) await write(id, offset, 'x')
  }
  await expect(all()).rejects.toMatchObject({ code: 'conflict' })
})

it('loses nothing for a reader that is slower than the writer', async () => {
  keeper = open({ holdMs: 20_000 })
  const last = 2_000_000
  const { id } = await start(`seq 1 ${last}`, keeper, true)
  const hash = createHash('sha256')
  const { body } = await keeper.openOutput(dockId, id, 'stdout', { offset: 0, follow: true })
  let read = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    hash.update(chunk)
    read += chunk.length
    // In this time the writer could fill a stream's budget several times.
    if (read < 4 * 2 ** 20) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const expected = createHash('sha256')
  for (let line = 1; line <= last; line += 1) expected.update(`${line}\n`)
  expect(hash.digest('hex')).toBe(expected.digest('hex'))
  expect((await state(id)).stdout.first).toBeGreaterThan(0)
}, 60_000)

it('ends readers that never read, and the program goes on', async () => {
  keeper = open({ holdMs: 500 })
  const { id, exited } = await start('read; head -c 33554432 /dev/zero')
  const { pid } = await keeperStatus()
  await state(id)
  const before = await descriptorsOf(pid)
  const readers = await Promise.all(
    Array.from({ length: 100 }, () => keeper.openOutput(dockId, id, 'stdout', { offset: 0, follow: true })),
  )
  await write(id, 0, '\n')
  await exited
  await expect.poll(() => isOpen(id)).toBe(false)
  const ends = await Promise.allSettled(readers.map(({ body }) => body.toArray()))
  expect(ends.every(({ status }) => status === 'rejected')).toBe(true)
  const { first, end } = (await state(id)).stdout
  expect(end).toBe(33_554_432)
  expect(end - first).toBeLessThanOrEqual(4 * 2 ** 20)
  await expect.poll(() => descriptorsOf(pid)).toBeLessThanOrEqual(before + 1)
  expect(await residentMiB(pid)).toBeLessThan(200)
}, 60_000)

it('starts a reader that comes late at the first byte that is kept', async () => {
  const { id, exited } = await start('head -c 10485760 /dev/zero')
  await exited
  await expect.poll(() => isOpen(id)).toBe(false)
  const opened = await keeper.openOutput(dockId, id, 'stdout', { offset: 1000, follow: true })
  expect(opened.first).toBeGreaterThanOrEqual(6 * 2 ** 20)
  expect(opened.start).toBe(opened.first)
  expect((await opened.body.toArray()).reduce((sum, chunk) => sum + chunk.length, 0)).toBe(
    10_485_760 - opened.first,
  )
  const beyond = keeper.openOutput(dockId, id, 'stdout', { offset: 10_485_761, follow: true })
  await expect(beyond).rejects.toMatchObject({ code: 'conflict' })
})

it('moves 512 MiB through with flat memory', async () => {
  const bytes = 2 ** 29
  const { id } = await start(`head -c ${bytes} /dev/zero`, keeper, true)
  const { pid } = await keeperStatus()
  const { body } = await keeper.openOutput(dockId, id, 'stdout', { offset: 0, follow: true })
  let read = 0
  let highestMiB = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (Math.floor(read / 2 ** 25) !== Math.floor((read + chunk.length) / 2 ** 25))
      highestMiB = Math.max(highestMiB, await residentMiB(pid))
    read += chunk.length
  }
  expect(read).toBe(bytes)
  expect(highestMiB).toBeLessThan(200)
}, 180_000)

it('stays within the budget of a Dock', async () => {
  keeper = open({ dockBytesMax: 6 * 2 ** 20 })
  const started = await Promise.all([1, 2, 3].map(() => start('head -c 5242880 /dev/zero')))
  await Promise.all(started.map(({ exited }) => exited))
  for (const { id } of started) await expect.poll(() => isOpen(id)).toBe(false)
  let bytes = 0
  const root = join(folder, 'output')
  for (const name of await readdir(root, { recursive: true })) {
    const found = await stat(join(root, name))
    if (found.isFile()) bytes += found.size
  }
  expect(bytes).toBeLessThanOrEqual(6 * 2 ** 20)
  expect(bytes).toBeGreaterThan(3 * 2 ** 20)
})

it('ends its programs when it dies, and their output stays readable', async () => {
  let deaths = 0
  keeper.onDeath(() => {
    deaths += 1
  })
  const { id, exited } = await start('echo begun; while echo more; do sleep 0.01; done; exit 3')
  await expect.poll(async () => (await state(id)).stdout.end).toBeGreaterThan(6)
  process.kill((await keeperStatus()).pid, 'SIGKILL')
  await exited
  await expect.poll(() => deaths).toBe(1)
  expect((await read(id)).toString()).toMatch(/^begun\nmore\n/)
  expect(await state(id)).toMatchObject({ lost: true, stdin: { isOpen: false }, stdout: { isOpen: false } })
})

it('exits when it is of no use, and not before', async () => {
  keeper = open({ idleMs: 300 })
  let deaths = 0
  keeper.onDeath(() => {
    deaths += 1
  })
  const { id, exited } = await start('sleep 1; echo done')
  const { pid } = await keeperStatus()
  await exited
  await expect.poll(() => stat(`/proc/${pid}`).catch(() => null)).toBe(null)
  expect(deaths).toBe(0)
  expect((await read(id)).toString()).toBe('done\n')
  expect((await keeperStatus()).pid).not.toBe(pid)
})

it('removes a process with its files, ends what reads it, and lets what it left write on until its Dock goes', async () => {
  const count = join(folder, 'count')
  const script = `while echo more; do echo >>${count}; sleep 0.01; done`
  const { id, exited } = await start(script)
  const { body } = await keeper.openOutput(dockId, id, 'stdout', { offset: 0, follow: true })
  const cut = expect(body.toArray()).rejects.toThrow()
  await keeper.remove(dockId, id)
  await cut
  expect(await keeper.states(dockId)).toEqual({})
  // The program may not have begun yet.
  const written = async (): Promise<number> => (await stat(count).catch(() => ({ size: 0 }))).size
  const before = await written()
  await expect.poll(written).toBeGreaterThan(before + 20)
  await keeper.removeDock(dockId)
  await exited
  expect(await readdir(join(folder, 'output'))).toEqual([])
})
