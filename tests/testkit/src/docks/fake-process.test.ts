import { text } from 'node:stream/consumers'
import { HostRefused } from '@dock/control-plane/src/modules/hosts/index.ts'
import { expect, test } from 'vitest'
import { fakeProcessFolder, openFakeProcess } from './fake-process.ts'

test('a process has streams, a folder and an exit code', async () => {
  const opened = await openFakeProcess('id', { command: 'cat; echo "$PWD" >&2; exit 3' })
  opened.stdin.end('input')
  const [stdout, stderr] = await Promise.all([text(opened.stdout), text(opened.stderr)])
  expect([stdout, stderr]).toEqual(['input', `${fakeProcessFolder()}\n`])
  expect(await opened.exited).toEqual({ exitCode: 3, signal: null })
})

test('its output ends with it, even if a process that it left behind keeps the pipe', async () => {
  const opened = await openFakeProcess('id', { command: 'sleep 60 & echo $!' })
  opened.stderr.resume()
  const pid = Number(await text(opened.stdout))
  expect(await opened.exited).toEqual({ exitCode: 0, signal: null })
  process.kill(pid)
})

test('a signal goes to the whole group', async () => {
  const opened = await openFakeProcess('id', { argv: ['bash', '-c', 'sleep 60 & echo here; wait'] })
  opened.stderr.resume()
  await new Promise((resolve) => opened.stdout.once('data', resolve))
  await opened.signal('TERM')
  opened.stdout.resume()
  expect(await opened.exited).toEqual({ exitCode: null, signal: 'TERM' })
})

test('a terminal has a size, echoes, and is resized', async () => {
  const command = 'stty size; trap "stty size; exit 4" WINCH; echo ready; while sleep 0.05; do :; done'
  const opened = await openFakeProcess('id', { command, pty: { cols: 91, rows: 17 } })
  opened.stderr.resume()
  let seen = ''
  const ready = new Promise<void>((resolve) => {
    opened.stdout.on('data', (chunk: Buffer) => {
      seen += chunk
      if (seen.includes('ready')) resolve()
    })
  })
  await ready
  await opened.resize({ cols: 100, rows: 20 })
  expect(await opened.exited).toEqual({ exitCode: 4, signal: null })
  expect(seen).toBe('17 91\r\nready\r\n20 100\r\n')
})

test('refuses a program or folder that does not exist, and ends when it is left', async () => {
  await expect(openFakeProcess('id', { argv: ['/no/such'] })).rejects.toThrow(HostRefused)
  await expect(openFakeProcess('id', { command: 'true', cwd: '/no/such' })).rejects.toThrow(HostRefused)
  const opened = await openFakeProcess('id', { command: 'echo $$; exec sleep 60' })
  const [pid] = await new Promise<string[]>((resolve) =>
    opened.stdout.once('data', (chunk: Buffer) => resolve(String(chunk).split('\n'))),
  )
  opened.hangUp()
  await expect(opened.exited).rejects.toThrow('left')
  await expect.poll(() => isAlive(Number(pid)), { timeout: 60_000 }).toBe(false)
})

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
