/** Kept processes of a real Dock: named pipes of the host as the streams of programs in gVisor. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDock, run } from './support/dock.ts'
import { openScreen, type Screen } from './support/terminal.ts'
import { useServer } from './support/use-server.ts'

const server = useServer()
const { client, admin } = server
let params: { id: string }

beforeAll(async () => {
  params = { id: (await createDock(server, { diskGiB: 1 })).id }
})
afterAll(() =>
  client.call('deleteDock', { params, headers: { 'x-confirm-delete': params.id } }).catch(() => undefined),
)

const start = (body: { command?: string; argv?: string[]; [more: string]: unknown }) =>
  client.call('startDockProcess', { params, body })
const placeOf = ({ id }: { id: string }) => ({ ...params, pid: id })
const output = async (process: { id: string }, query: Record<string, unknown> = {}) =>
  Buffer.from(
    await client.call('readDockProcessOutput', {
      params: placeOf(process),
      query: { follow: true, ...query } as { follow: true },
    }),
  ).toString()
const wait = (process: { id: string }) =>
  client.call('waitForDockProcess', { params: placeOf(process), query: { timeoutSeconds: 60 } })

it('runs a command as the Dock’s user, with streams that behave like pipes', async () => {
  const started = await start({ command: 'id -un; pwd; echo again >/dev/stdout; echo err >&2; exit 7' })
  expect(await wait(started)).toMatchObject({ state: 'ended', exitCode: 7, reason: 'exited' })
  expect(await output(started)).toBe('user\n/home/user/work\nagain\n')
  expect(await output(started, { stream: 'stderr' })).toBe('err\n')
})

it('passes input, and its end, to the process', async () => {
  const started = await start({ argv: ['sort'], stdin: true })
  const send = (offset: number, body: string) =>
    client.call('writeDockProcessInput', { params: placeOf(started), query: { offset }, body })
  expect(await send(0, 'b\n')).toEqual({ offset: 2 })
  expect(await send(0, 'b\na\n')).toEqual({ offset: 4 })
  await expect(send(5, 'x')).rejects.toMatchObject({ code: 'conflict' })
  await client.call('closeDockProcessInput', { params: placeOf(started) })
  expect(await output(started)).toBe('a\nb\n')
})

it('has a terminal that can be resized, and signals', async () => {
  const command = 'stty size; trap "stty size" WINCH; for i in {1..600}; do sleep 0.1; done'
  const started = await start({ command, pty: { cols: 80, rows: 24 } })
  await expect.poll(() => output(started, { follow: false })).toContain('24 80')
  const place = placeOf(started)
  await client.call('resizeDockProcess', { params: place, body: { cols: 100, rows: 30 } })
  await expect.poll(() => output(started, { follow: false })).toContain('30 100')
  await client.call('signalDockProcess', { params: place, body: { signal: 'KILL', target: 'tree' } })
  expect(await wait(started)).toMatchObject({ state: 'ended' })
})

it('is a shell that survives the connection of its terminal', async () => {
  const shell = await start({ argv: ['/bin/bash', '-i'], stdin: true, pty: { cols: 80, rows: 24 } })
  const shows = (screen: Screen, line: string) =>
    screen.until((lines) => lines.some((each) => each === line), JSON.stringify(line))
  const [one, two] = [
    await openScreen(server, params.id, shell.id),
    await openScreen(server, params.id, shell.id),
  ]
  one.type('echo pid=$$ >pid; tty >/dev/null && echo "ter"minal\r')
  await shows(two, 'terminal')
  two.type('echo "st"ill\r')
  await shows(one, 'still')
  one.close()
  two.close()
  await Promise.all([one.closed, two.closed])
  const again = await openScreen(server, params.id, shell.id)
  await shows(again, 'still')
  again.resize(100, 30)
  const askSize = () => {
    again.type('stty size\r')
    return again.lines()
  }
  await expect.poll(askSize).toContain('30 100')
  again.type('[ "$(cat pid)" = pid=$$ ] && echo "sa"me; exit 5\r')
  expect(await again.closed).toEqual({ exitCode: 5, code: 1000 })
  expect(again.lines()).toContain('same')
})

it('ends with its timeout, and all that it started', async () => {
  const started = await start({ command: 'sleep 1234 & sleep 1234', timeoutSeconds: 2 })
  expect(await wait(started)).toMatchObject({ state: 'ended', reason: 'timed_out' })
  expect(await run(server, params.id, 'pgrep -f "^sleep 1234" | wc -l')).toBe('0\n')
})

it('lets a daemon live on after its end', async () => {
  const started = await start({ command: 'setsid sleep 4321 >/dev/null 2>&1 </dev/null & echo started' })
  expect(await wait(started)).toMatchObject({ exitCode: 0 })
  expect(await output(started)).toBe('started\n')
  const daemons = () => run(server, params.id, 'pgrep -c -f "^sleep 4321" || true')
  await expect.poll(daemons).toBe('1\n')
})

it('delivers a flood completely to a reader that follows', async () => {
  const started = await start({ command: 'read; seq 1 2000000', stdin: true })
  const response = await fetch(
    `${admin.baseUrl}/v1/docks/${params.id}/processes/${started.id}/output?follow=true`,
    { headers: { authorization: `Bearer ${admin.apiKey}` } },
  )
  await client.call('writeDockProcessInput', { params: placeOf(started), query: { offset: 0 }, body: '\n' })
  const text = await response.text()
  expect(text.length).toBe(14_888_896)
  expect(text.endsWith('\n1999999\n2000000\n')).toBe(true)
})

it('a server that a command leaves in the background lives, whatever it prints', async () => {
  const serve = (port: number) =>
    `python3 -u -m http.server ${port} & for i in {1..300}; do (: </dev/tcp/localhost/${port}) 2>/dev/null && break; sleep 0.1; done; echo up`
  const ask = (port: number) =>
    run(
      server,
      params.id,
      `for i in {1..10}; do curl -s -o /dev/null -w '%{http_code} ' localhost:${port}/; done`,
    )
  const ten = '200 '.repeat(10)
  // The command's end waits for nothing that it left behind.
  expect(await run(server, params.id, serve(4300))).toContain('up\n')
  expect(await ask(4300)).toBe(ten)
  // A server of a kept process also lives when other processes have taken the place of its record.
  const kept = await start({ command: serve(4301) })
  expect(await wait(kept)).toMatchObject({ state: 'ended', exitCode: 0 })
  expect(await ask(4301)).toBe(ten)
  for (let count = 0; count < 33; count++) await wait(await start({ argv: ['true'] }))
  await expect(client.call('readDockProcess', { params: placeOf(kept) })).rejects.toMatchObject({
    code: 'not_found',
  })
  expect(await ask(4301)).toBe(ten)
}, 120_000)
