import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { LeftPipes, leftPipesMax } from './left-pipes.ts'

const children: ChildProcess[] = []
const writers: number[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const writer of writers.splice(0)) if (isAlive(writer)) process.kill(writer, 'SIGKILL')
})

/** Starts a program that writes into a pipe of its own, and keeps its read end open beside it. */
const start = async (program: string) => {
  // The shell holds the read end as descriptor 9 until its input ends, then leaves the pipe to the keeper.
  const child = spawn('bash', ['-c', `exec 9< <(exec 8>&1; ${program}); echo $!; read; exec 9<&-; wait $!`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  writers.push(Number(line))
  return { pid: child.pid!, writer: Number(line), descriptors: [9], leave: () => child.stdin!.end('\n') }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const patiently = { timeout: 10_000, interval: 20 }

test('a program whose reader has left writes on until it ends', async () => {
  const left = new LeftPipes()
  const { pid, descriptors, leave, writer } = await start('while :; do echo line; sleep 0.01; done')
  left.keep('one', { pid, descriptors })
  leave()
  await delay(300)
  expect([isAlive(writer), left.isOpen]).toEqual([true, true])
  process.kill(writer)
  await expect.poll(() => left.isOpen, patiently).toBe(false)
})

test('without a reader it would have ended', async () => {
  const { leave, writer } = await start('while :; do echo line; sleep 0.01; done')
  leave()
  await expect.poll(() => isAlive(writer), patiently).toBe(false)
})

test('a flood is read slowly, and blocks its writer instead of ending it', async () => {
  const left = new LeftPipes()
  const { pid, descriptors, leave, writer } = await start('exec yes')
  left.keep('one', { pid, descriptors })
  leave()
  const before = process.cpuUsage()
  await delay(1_000)
  const { user, system } = process.cpuUsage(before)
  expect(isAlive(writer)).toBe(true)
  expect((user + system) / 1e6).toBeLessThan(0.25)
  left.closeDock('one')
  await expect.poll(() => isAlive(writer), patiently).toBe(false)
})

test('above the limit of a Dock, the pipe that has been silent for longest is closed', async () => {
  const left = new LeftPipes()
  const talking = await start('while :; do echo line; sleep 0.01; done')
  const silent = await start('exec sleep 600')
  left.keep('one', talking)
  for (let count = 2; count <= leftPipesMax; count++) left.keep('one', silent)
  talking.leave()
  await delay(200)
  const open = countPipes()
  left.keep('one', silent)
  left.keep('two', silent)
  expect(countPipes() - open).toBe(1)
  await delay(200)
  expect(isAlive(talking.writer)).toBe(true)
  for (const dockId of ['one', 'two']) left.closeDock(dockId)
  expect(left.isOpen).toBe(false)
})

test('takes pipes only', () => {
  const left = new LeftPipes()
  expect(() => left.keep('one', { pid: process.pid, descriptors: [9_999] })).toThrow('ENOENT')
  const file = openSync(import.meta.filename, 'r')
  expect(() => left.keep('one', { pid: process.pid, descriptors: [file] })).toThrow('not a pipe')
  closeSync(file)
  expect(left.isOpen).toBe(false)
})

/** Counts the pipes that this process has open. */
const countPipes = (): number =>
  readdirSync('/proc/self/fd').filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith('pipe:')
    } catch {
      return false
    }
  }).length
