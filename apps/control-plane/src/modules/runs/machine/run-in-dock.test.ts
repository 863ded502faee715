import { Readable } from 'node:stream'
import { newUuid } from '@dock/foundation'
import type { KeptProcess } from '@dock/host-protocol'
import { fakeKeptProcesses } from '@dock/testkit/src/docks/fake-kept-processes.ts'
import { expect, test } from 'vitest'
import { HostUnreachable } from '../../hosts/index.ts'
import { followInDock, runInDock, startInDock } from './run-in-dock.ts'

const gateway = fakeKeptProcesses(
  () => undefined,
  () => false,
)
const machine = { hostId: newUuid(), dockId: newUuid(), generation: 1 }
const requestOf = (command: string, input?: string) => ({
  processId: newUuid(),
  command,
  env: {},
  timeoutMs: 60_000,
  ...(input === undefined ? {} : { input: Buffer.from(input) }),
})
const run = (command: string) => runInDock(gateway, machine, requestOf(command), async () => undefined)

/** Follows to the end, as a Run does, in pieces of at most `bytesMax`. */
const followToEnd = async (command: string, bytesMax: number, input?: string) => {
  const place = await startInDock(gateway, machine, requestOf(command, input))
  let text = ''
  for (;;) {
    const { bytes, start, end } = await followInDock(gateway, place, Buffer.byteLength(text), bytesMax)
    expect(start).toBe(Buffer.byteLength(text))
    expect(bytes.length).toBeLessThanOrEqual(bytesMax)
    text += bytes
    if (end) return { text, exitCode: end.exitCode }
  }
}

test('the output of a command has what its children wrote after its end', async () => {
  const { end, output } = await run('(sleep 0.3; echo late) & echo early; exit 3')
  expect([end.exitCode, output]).toEqual([3, 'early\nlate\n'])
})

test('a command whose daemon keeps the output open has ended', async () => {
  const { end, output } = await run('sleep 60 & echo $!')
  process.kill(Number(output))
  expect(end.exitCode).toBe(0)
})

test('of a long output, the end is returned', async () => {
  const { output } = await run('head -c 100000 /dev/zero | tr "\\0" x; echo end')
  expect(output).toBe(`${'x'.repeat(16 * 1024 - 4)}end\n`)
})

test('a follower gets each byte once, and the end after the last one', async () => {
  const text = Array.from({ length: 2_000 }, (_, line) => `line ${line}\n`).join('')
  expect(await followToEnd('cat; exit 4', 1_000, text)).toEqual({ text, exitCode: 4 })
})

test('a command with input does nothing if its input is closed before it began', async () => {
  const startKept: typeof gateway.startKept = async (...args) => {
    const started = await gateway.startKept(...args)
    await gateway.closeKeptInput({ ...machine, processId: started.processId })
    return { ...started, stdin: { ...started.stdin, isOpen: false } }
  }
  const request = requestOf('echo begun', 'the prompt')
  const { end, output } = await runInDock({ ...gateway, startKept }, machine, request, async () => undefined)
  expect([end.exitCode, output]).toEqual([1, ''])
})

test('a command without input does nothing either before its start is certain', async () => {
  let text = ''
  const startKept: typeof gateway.startKept = async (...args) => {
    const started = await gateway.startKept(...args)
    await gateway.closeKeptInput({ ...machine, processId: started.processId }).catch(() => undefined)
    const { end } = await gateway.waitForKept({ ...machine, processId: started.processId }, { ms: 5_000 })
    text = `exit code ${end?.exitCode}`
    return { ...started, end, stdin: { ...started.stdin, isOpen: false } }
  }
  const { output } = await runInDock(
    { ...gateway, startKept },
    machine,
    requestOf('echo begun'),
    async () => undefined,
  )
  expect([text, output]).toEqual(['exit code 1', ''])
})

test('the output tells a mistake in the syntax of the command', async () => {
  const { end, output } = await run('( echo "begun )')
  expect(end.exitCode).not.toBe(0)
  expect(output).toContain('unexpected EOF')
})

const loseEnds =
  <Calls extends unknown[]>(call: (...args: Calls) => Promise<KeptProcess>) =>
  async (...args: Calls): Promise<KeptProcess> => {
    const process = await call(...args)
    return process.end === null
      ? process
      : { ...process, end: { ...process.end, exitCode: null, reason: 'lost' } }
  }

test.each([0, 7])('exit code %d is known although no agent saw the end', async (exitCode) => {
  const forgetful = {
    ...gateway,
    readKept: loseEnds(gateway.readKept),
    waitForKept: loseEnds(gateway.waitForKept),
  }
  const request = requestOf(`echo one; exit ${exitCode}`)
  const { end, output } = await runInDock(forgetful, machine, request, async () => undefined)
  expect([end, output]).toEqual([expect.objectContaining({ exitCode, reason: 'exited' }), 'one\n'])
  const followed = await followInDock(forgetful, { ...machine, processId: request.processId }, 0, 1_000)
  expect(followed.end).toMatchObject({ exitCode, reason: 'exited' })
})

test('a process that was killed while no agent was there is lost', async () => {
  const waitForKept = loseEnds(gateway.waitForKept)
  const request = requestOf('kill -KILL $$')
  const { end } = await runInDock({ ...gateway, waitForKept }, machine, request, async () => undefined)
  expect(end).toMatchObject({ exitCode: null, reason: 'lost' })
})

test('output that breaks off says that the host is unreachable', async () => {
  const place = await startInDock(gateway, machine, requestOf('echo one'))
  const body = new Readable({ read() {} })
  body.push('one')
  const openKeptOutput = async () => ({ start: 0, first: 0, body })
  const following = followInDock({ ...gateway, openKeptOutput }, place, 0, 1_000)
  body.destroy(new Error('the link broke'))
  await expect(following).rejects.toThrow(HostUnreachable)
})

test('a process that closes its output has not ended', async () => {
  expect(await followToEnd('echo last; exec >&- 2>&-; sleep 0.5; exit 5', 1_000)).toEqual({
    text: 'last\n',
    exitCode: 5,
  })
})
