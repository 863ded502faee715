import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { DockBudget } from './dock-budget.ts'
import { HostBudget } from './host-budget.ts'
import { hostBytesMaxOn, keeperDefaults } from './keeper-settings.ts'
import { OutputStream } from './output-store.ts'

const mebibyte = 2 ** 20
const chunk = Buffer.alloc(64 * 1024, 'x')
const hostBytesMax = 16 * mebibyte
const settings = { ...keeperDefaults, hostBytesMax }

let folder: string
let host: HostBudget
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-host-output-'))
  host = new HostBudget(hostBytesMax)
})
afterEach(async () => {
  for (const stream of opened.splice(0)) await stream.remove()
  await rm(folder, { recursive: true, force: true })
})

let made = 0
const opened: OutputStream[] = []
const openStream = async (budget: DockBudget): Promise<OutputStream> => {
  const place = join(folder, String(made++))
  await mkdir(place)
  const stream = new OutputStream(place, 'stdout', budget, [], true)
  opened.push(stream)
  return stream
}
const openDock = (owner: string): DockBudget => new DockBudget(settings, host, owner)
const write = async (stream: OutputStream, bytes: number): Promise<void> => {
  for (let written = 0; written < bytes; written += chunk.length) await stream.append(chunk)
}
/** What all files take of the disk. */
const onDisk = async (): Promise<number> => {
  let bytes = 0
  for (const name of await readdir(folder, { recursive: true })) {
    const found = await stat(join(folder, name))
    if (found.isFile()) bytes += found.blocks * 512
  }
  return bytes
}

it('keeps all Docks within the budget of the host, however many there are', async () => {
  const streams = await Promise.all(Array.from({ length: 40 }, (_, at) => openStream(openDock(`o${at}`))))
  await Promise.all(streams.map((stream) => write(stream, 2 * mebibyte)))
  expect(await onDisk()).toBeLessThanOrEqual(hostBytesMax + 40 * 4096)
  expect(host.stored).toBeLessThanOrEqual(hostBytesMax + 40 * 4096)
  for (const stream of streams) expect(stream.end).toBe(2 * mebibyte)
})

it('takes from the organization that has most, and nothing from one that keeps little', async () => {
  const quiet = await openStream(openDock('quiet'))
  await write(quiet, mebibyte)
  const loud = await Promise.all(Array.from({ length: 20 }, () => openStream(openDock('loud'))))
  await Promise.all(loud.map((stream) => write(stream, 2 * mebibyte)))
  expect(quiet.first).toBe(0)
  expect(quiet.bytes).toBeGreaterThanOrEqual(mebibyte)
  await write(quiet, 3 * mebibyte)
  expect(quiet.first).toBe(0)
  expect(await onDisk()).toBeLessThanOrEqual(hostBytesMax + 21 * 4096)
})

it('does not wait for the readers of another organization', async () => {
  const loud = await openStream(openDock('loud'))
  const others = await Promise.all(Array.from({ length: 3 }, () => openStream(openDock('loud'))))
  let isCut = false
  loud.addReader({ position: 0, movedAt: performance.now() + 3_600_000, end: () => (isCut = true) })
  await write(loud, 4 * mebibyte)
  for (const other of others) await write(other, 3 * mebibyte)
  const quiet = await openStream(openDock('quiet'))
  await write(quiet, 4 * mebibyte)
  expect(quiet.end - quiet.first).toBe(4 * mebibyte)
  expect(isCut).toBe(true)
})

it('counts what is written to many streams that stay open', async () => {
  // Each has one file that is being written, so none has one that could be dropped in the usual way.
  const dock = openDock('one')
  const streams = await Promise.all(Array.from({ length: 100 }, () => openStream(dock)))
  for (const stream of streams) await write(stream, 512 * 1024)
  expect(await onDisk()).toBeLessThanOrEqual(hostBytesMax + 100 * 4096)
  // The newest ones are whole.
  expect(streams.at(-1)?.first).toBe(0)
  for (const stream of streams) await write(stream, 64 * 1024)
  for (const stream of streams) expect(stream.end).toBe(576 * 1024)
})

it('gives back what removed streams stored', async () => {
  const streams = await Promise.all([1, 2, 3].map(() => openStream(openDock('one'))))
  await Promise.all(streams.map((stream) => write(stream, mebibyte)))
  expect(host.stored).toBeGreaterThanOrEqual(3 * mebibyte)
  for (const stream of streams) await stream.remove()
  expect(host.stored).toBe(0)
})

it('is a small part of a small filesystem', () => {
  expect(hostBytesMaxOn(2 ** 40)).toBe(2 ** 30)
  expect(hostBytesMaxOn(20 * 2 ** 30)).toBe(Math.floor(20 * 2 ** 30 * 0.02))
  expect(hostBytesMaxOn(2 ** 30)).toBe(64 * mebibyte)
})
