/**
 * script/prove fuzz-dock [requests, 2000] [seed]: fuzzes the programs that serve a real Dock: those for files, the keeper
 * of processes and the sftp server. Then a program that sends damaged answers replaces the Dock's interpreter. No response may be
 * undocumented, no process of the host may end or log an error, and nothing may be left. The seed changes daily.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@dock/testkit/src/free-port.ts'
import fc from 'fast-check'
import { type BenchServer, print, withServer } from '../../bench/parts/bench-server.ts'
import { createSshClient } from '../api/ssh/ssh-client.ts'
import { processOf } from '../crash/processes.ts'
import { createDock, run } from '../e2e/support/dock.ts'
import { type DockRequest, sendDockRequest } from './fuzz-dock/dock-request.ts'
import { fileRequest, folder, prepareFolder } from './fuzz-dock/file-requests.ts'
import { putLyingPerl, putOwnPerl } from './fuzz-dock/lying-perl.ts'
import { processRequest } from './fuzz-dock/process-requests.ts'
import { runSftpSession, sftpSession } from './fuzz-dock/sftp-sessions.ts'
import { findGrowth, measureFigures } from './ssh/process-figures.ts'

const [countText = '2000', seedText = String(Math.floor(Date.now() / 86_400_000))] = process.argv.slice(2)
const [count, seed] = [Number(countText), Number(seedText)]
const atOnce = 4
/** Requests after which the files are made again: some of them remove everything. */
const perFolder = 200
const recentMax = 8
const printedMax = 10
const errorLevel = 50

let problems = 0
const check = (what: string, holds: boolean, detail = ''): void => {
  if (!holds) problems += 1
  print(`${holds ? 'holds ' : 'BROKEN'}  ${what}${detail && `: ${detail}`}`)
}

/** Runs `work` for each item, several at the same time. */
const each = async <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> => {
  const left = items.values()
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

const fuzz = async (
  server: BenchServer,
  id: string,
  what: string,
  requests: readonly DockRequest[],
): Promise<void> => {
  const { baseUrl, apiKey } = server.admin
  const base = `${baseUrl}/v1/docks/${id}`
  const pids: string[] = []
  const statuses: Record<string, number> = {}
  const wrong = new Map<string, string>()
  const send = async (request: DockRequest): Promise<void> => {
    const pid = pids[Math.floor(Math.random() * pids.length)] ?? id
    for (;;) {
      const outcome = await sendDockRequest(base, apiKey, request, pid)
      if (outcome.status === 429) {
        await delay(1_000)
        continue
      }
      statuses[outcome.status] = (statuses[outcome.status] ?? 0) + 1
      if (outcome.wrong !== null) wrong.set(`${request.route}: ${outcome.wrong}`, request.path)
      const started = /"id":"([0-9a-f-]{36})"/.exec(request.route === 'startDockProcess' ? outcome.text : '')
      if (started?.[1]) pids.push(started[1])
      if (pids.length > recentMax) pids.shift()
      return
    }
  }
  for (let from = 0; from < requests.length; from += perFolder) {
    await run(server, id, prepareFolder)
    await each(requests.slice(from, from + perFolder), send)
  }
  check(`${requests.length} requests for ${what}, ${JSON.stringify(statuses)}`, wrong.size === 0)
  for (const [why, path] of [...wrong].slice(0, printedMax))
    print(`        ${why}\n          ${path.slice(0, 300)}`)
}

const keeperOf = async (server: BenchServer): Promise<string | undefined> => {
  for (const pid of await readdir('/proc')) {
    const line = /^\d+$/.test(pid) ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') : ''
    if (line.includes('process-keeper') && line.includes(server.dataDir)) return pid
  }
  return undefined
}

const processesOf = async (server: BenchServer): Promise<string> =>
  [await processOf('control-plane', server), await processOf('agent', server), await keeperOf(server)].join(
    ' ',
  )

/** Returns lines of all logs that report an error. */
const errorsIn = async (server: BenchServer): Promise<string[]> => {
  const logs = join(server.dataDir, 'logs')
  const texts = await Promise.all((await readdir(logs)).map((name) => readFile(join(logs, name), 'utf8')))
  return texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => Number(/"level":(\d+)/.exec(line)?.[1]) >= errorLevel)
}

const port = await freePort()
await withServer({ DOCK_SSH_PORT: String(port), DOCK_WARM_POOL: '0' }, async (server) => {
  print(`seed ${seed}`)
  const client = await createSshClient(() => port)
  try {
    const publicKey = await client.makeKey('id', '-t', 'ed25519')
    await server.client.call('addSshKey', { body: { name: 'fuzz', publicKey } })
    const { id } = await createDock(server, { diskGiB: 4 })
    // The first process starts the keeper, which would end after ten minutes without one.
    const lasting = { command: 'exec sleep infinity' }
    await server.client.call('startDockProcess', { params: { id }, body: lasting })
    const processes = await processesOf(server)
    const before = await measureFigures(server, id)

    await fuzz(server, id, 'files', fc.sample(fileRequest, { numRuns: count, seed }))
    await fuzz(server, id, 'processes', fc.sample(processRequest, { numRuns: count, seed }))
    const sessions = fc.sample(sftpSession, { numRuns: Math.ceil(count / 10), seed })
    await each(sessions, (session) => runSftpSession(client, id, session))
    print(`        ${sessions.length} sessions of sftp have ended`)
    await run(server, id, putLyingPerl)
    await fuzz(
      server,
      id,
      'files, of a lying Dock',
      fc.sample(fileRequest, { numRuns: count, seed: seed + 1 }),
    )
    await run(server, id, putOwnPerl)

    check('the same processes run', (await processesOf(server)) === processes, processes)
    const errors = await errorsIn(server)
    check('no log has an error', errors.length === 0, errors.slice(0, 3).join('\n').slice(0, 3_000))
    const left = await run(server, id, "sudo find / -xdev -name '.dock-upload-*' 2>/dev/null | head -3; true")
    check('no half of an upload is left', left === '', left)
    // Output of processes that have ended stays: at most 64 MiB of a Dock, in files of 1 MiB, and one for each stream.
    before.keeperFiles += 64 + 128
    const grown = await findGrowth(server, id, before)
    check('nothing is left behind', grown.length === 0, grown.join(', '))
    await run(server, id, `sudo rm -rf ${folder}`)
    const params = { id }
    await server.client.call('makeDockFolder', { params, body: { path: folder, parents: true } })
    const query = { path: `${folder}/file` }
    await server.client.call('writeDockFile', { params, query, body: 'works' })
    const read = await server.client.call('readDockFile', { params, query })
    check('files work', Buffer.from(read).toString() === 'works')
    const shown = await client.ssh(id, 'echo works')
    check('SSH works', shown.stdout === 'works\n', shown.stderr)
  } finally {
    await client.remove()
  }
})
print(
  problems === 0
    ? 'pass: the doors of a Dock stand what callers and the Dock send'
    : `fail: ${problems} checks`,
)
process.exit(problems === 0 ? 0 : 1)
