/** What programs find in a Dock: its size, UTF-8, and names and files that they expect. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Dock } from '@dock/contract'
import { beforeAll, expect, it } from 'vitest'
import { exec, run } from './support/dock.ts'
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

it('has files and names that programs expect', async () => {
  expect(await inDock('head -1 /etc/mtab | cut -d" " -f2')).toBe('/\n')
  expect(await inDock('/usr/sbin/policy-rc.d nginx start || echo $?')).toBe('101\n')
  // Java cannot be installed without it.
  expect(await inDock('ls -d /usr/share/man/man1')).toBe('/usr/share/man/man1\n')
  const resolve = `python3 -c 'import socket; print(sorted({each[4][0] for each in socket.getaddrinfo("web.mine.docks.localhost", 80)}))'`
  expect(await inDock(resolve)).toBe("['127.0.0.1', '::1']\n")
})
