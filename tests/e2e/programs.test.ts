/** What programs find in a Dock: its size, UTF-8, signals through sudo, and names and files that they expect. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Dock } from '@dock/contract'
import { beforeAll, expect, it } from 'vitest'
import { exec, run } from './support/dock.ts'
import { openScreen } from './support/terminal.ts'
import { useServer } from './support/use-server.ts'

const server = useServer()
const { client } = server
let dock: Dock

const create = (over: object) =>
  client.call('createDock', {
    body: { workspaceId: server.admin.workspaceId, cpus: 1, memoryMiB: 768, diskGiB: 1, ...over },
  })
const inDock = (command: string) => run(server, dock.id, command)
const sizes = `nproc; grep -c ^processor /proc/cpuinfo; awk '/^MemTotal/ {print $2}' /proc/meminfo; python3 -c 'import os; print(len(os.sched_getaffinity(0)))'`

beforeAll(async () => {
  dock = await create({})
})

it('shows programs the size of the Dock, also after it changed', async () => {
  expect(await inDock(sizes)).toBe(`1\n1\n${768 * 1024}\n1\n`)
  const { stdout } = await promisify(execFile)('nproc')
  const params = { id: dock.id }
  await client.call('stopDock', { params, body: {} })
  await client.call('resumeDock', { params, body: { cpus: 2, memoryMiB: 1024 } })
  const cpus = Math.min(2, Number(stdout))
  expect(await inDock(sizes)).toBe(`${cpus}\n${cpus}\n${1024 * 1024}\n${cpus}\n`)
})

it('lets programs read and write UTF-8, unless the caller chooses another locale', async () => {
  const listing = `mkdir -p ~/names && cd ~/names && touch grün.txt && python3 -c 'import os, locale; print(locale.getlocale()[1], os.listdir())'`
  expect(await inDock(listing)).toBe("UTF-8 ['grün.txt']\n")
  expect(await inDock('cd ~/names && ls && locale charmap')).toBe('grün.txt\nUTF-8\n')
  const charmap = 'locale charmap'
  expect((await exec(server, dock.id, charmap, { env: { LC_ALL: 'C' } })).stdout).toBe('ANSI_X3.4-1968\n')
  const own = await create({ env: { LANG: 'C' } })
  expect(await run(server, own.id, charmap)).toBe('ANSI_X3.4-1968\n')
})

it('passes signals on through sudo', async () => {
  const left = 'sleep 0.3; ps -eo args | grep -c "^sleep 500[0-9]" || true'
  expect(await inDock(`timeout 1 sudo sleep 5005; echo $?; ${left}`)).toBe('124\n0\n')
  expect(await inDock(`sudo sleep 5006 & sleep 1; kill $!; wait $!; echo $?; ${left}`)).toBe('143\n0\n')
  const handled = `sudo bash -c 'trap "echo got; exit 5" USR1; while :; do sleep 0.1; done' & sleep 1; kill -USR1 $!; wait $!; echo $?`
  expect(await inDock(handled)).toBe('got\n5\n')
  expect(
    await inDock('sudo sh -c "exit 7"; echo $?; sudo sh -c \'kill -KILL $$\'; echo $?; echo in | sudo cat'),
  ).toBe('7\n137\nin\n')
})

it('passes on a signal through sudo that another one follows at once', async () => {
  // A lost signal shows as 137 after 20 s. Passing one on takes seven programs, which took over 3 s on a loaded machine.
  const each = 'timeout -k 20 1 sudo sleep 5004; echo $?'
  const left = 'sleep 0.3; ps -eo args | grep -c "^sleep 5004" || true'
  expect(await inDock(`for i in 1 2 3 4 5 6 7 8; do ${each}; done; ${left}`)).toBe(`${'124\n'.repeat(8)}0\n`)
})

it('stops and continues what sudo runs', async () => {
  const state = 'ps -o stat= -p $(pgrep -x -f "sleep 5003") | cut -c1'
  const steps = ['sleep 1', 'kill -TSTP $!; sleep 1', state, 'kill -CONT $!; sleep 1', state, 'kill $!']
  expect(await inDock(`sudo sleep 5003 & ${steps.join('; ')}; wait $!; echo $?`)).toBe('T\nS\n143\n')
  const stopped = `sudo bash -c 'kill -STOP $$; echo went on' & sleep 1; sudo pkill -CONT -f 'went on'; wait $!; echo $?`
  expect(await inDock(stopped)).toBe('went on\n0\n')
})

it('ends what sudo runs at Ctrl-C', async () => {
  const screen = await openScreen(server, dock.id)
  screen.type('sudo sleep 5007\r')
  const count = 'ps -eo args | grep -c "^sleep 5007" || true'
  await expect.poll(() => inDock(count), { timeout: 20_000 }).toBe('1\n')
  screen.type('\u0003')
  await expect.poll(() => inDock(count), { timeout: 20_000 }).toBe('0\n')
  screen.type('echo "co"de $?\r')
  await screen.until((lines) => lines.some((line) => line.includes('code 130')), 'code 130')
  screen.close()
})

it('has files and names that programs expect', async () => {
  expect(await inDock('head -1 /etc/mtab | cut -d" " -f2')).toBe('/\n')
  expect(await inDock('/usr/sbin/policy-rc.d nginx start || echo $?')).toBe('101\n')
  const resolve = `python3 -c 'import socket; print(sorted({each[4][0] for each in socket.getaddrinfo("web.mine.docks.localhost", 80)}))'`
  expect(await inDock(resolve)).toBe("['127.0.0.1', '::1']\n")
})
