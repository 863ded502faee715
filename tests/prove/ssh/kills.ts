/** Kills the control plane, the agent and clients while a process writes and is read. */
import { setTimeout as delay } from 'node:timers/promises'
import { type BenchServer, print } from '../../../bench/parts/bench-server.ts'
import type { SshClient } from '../../api/ssh/ssh-client.ts'
import { processOf, type Victim } from '../../crash/processes.ts'
import { run } from '../../e2e/support/dock.ts'
import { findGrowth, measureFigures } from './process-figures.ts'

export type Check = (what: string, holds: boolean, detail?: string) => void
export type KillCounts = { 'control-plane': number; agent: number; client: number }

const eventually = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
  for (const deadline = Date.now() + 90_000; ; await delay(200)) {
    try {
      return await ask()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}
const daemonProgram = `import socket
server = socket.create_server(('127.0.0.1', 7100))
while True:
    client, _ = server.accept()
    client.recv(65536)
    client.sendall(b'HTTP/1.0 200 OK\\r\\n\\r\\n')
    client.close()`
/** Some 30 KiB a second, so that what is kept covers a restart. */
const writer = `i=0; until [ -e /tmp/stop ]; do for n in {1..100}; do echo "line $((i += 1))"; done; sleep 0.05; done`
const linesOf = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')

/** Reads the whole output by offset, whatever breaks in between. `cut` breaks the present reader. */
const readOutput = (server: BenchServer, dockId: string, pid: string) => {
  const pieces: Uint8Array[] = []
  let length = 0
  let reader = new AbortController()
  const readOn = async (): Promise<boolean> => {
    reader = new AbortController()
    const url = `${server.admin.baseUrl}/v1/docks/${dockId}/processes/${pid}/output?follow=true&offset=${length}`
    try {
      const headers = { authorization: `Bearer ${server.admin.apiKey}` }
      const response = await fetch(url, { headers, signal: reader.signal })
      if (!response.ok || !response.body) return false
      if (response.headers.get('x-dock-start-offset') !== String(length)) throw new Error('a gap')
      for await (const piece of response.body) {
        pieces.push(piece)
        length += piece.length
      }
      return true
    } catch (error) {
      if (error instanceof Error && error.message === 'a gap') throw error
      return false
    }
  }
  const done = (async () => {
    while (!(await readOn())) await delay(100)
    return Buffer.concat(pieces).toString()
  })()
  done.catch(() => undefined)
  return { done, cut: () => reader.abort() }
}

/** Waits until the process has a successor that serves. */
const killAndWait = async (server: BenchServer, dockId: string, victim: Victim): Promise<void> => {
  const pid = await processOf(victim, server)
  if (pid === null) throw new Error(`no ${victim}`)
  process.kill(pid, 'SIGKILL')
  await eventually(async () => {
    const next = await processOf(victim, server)
    if (next === null || next === pid) throw new Error(`the ${victim} is down`)
    await run(server, dockId, 'true')
  })
}

export async function proveKills(
  server: BenchServer,
  dockId: string,
  client: SshClient,
  counts: KillCounts,
  check: Check,
): Promise<void> {
  const params = { id: dockId }
  const to = [...client.options(), '-l', dockId, '127.0.0.1']
  await run(server, dockId, `cat >/tmp/daemon.py <<'END'\n${daemonProgram}\nEND`)
  // Left only once it serves: before that, it may still belong to the group that is hung up.
  const daemon = `setsid python3 /tmp/daemon.py >/dev/null 2>&1 </dev/null &
    for try in {1..200}; do curl -so /dev/null http://127.0.0.1:7100/ && break; sleep 0.1; done; echo started; sleep 1000`
  const session = client.start('ssh', [...to, daemon])
  await new Promise((resolve) => session.stdout.once('data', resolve))
  session.kill('SIGKILL')
  const { id: pid } = await server.client.call('startDockProcess', { params, body: { command: writer } })
  const output = readOutput(server, dockId, pid)
  for (const victim of ['control-plane', 'agent'] as const) {
    await eventually(() => run(server, dockId, 'true'))
    const before = await measureFigures(server, dockId)
    for (let round = 1; round <= counts[victim]; round++) {
      const stream = client.start('ssh', [...to, 'yes'])
      stream.stdout.resume()
      await delay(300 + Math.random() * 1_000)
      await killAndWait(server, dockId, victim)
      stream.kill('SIGKILL')
    }
    // The kept output of the process that writes grows up to its limit.
    before.keeperFiles += 8
    const grown = await findGrowth(server, dockId, before)
    print(`        then: ${JSON.stringify(await measureFigures(server, dockId))}`)
    check(
      `${counts[victim]} kills of the ${victim}: nothing is left behind`,
      grown.length === 0,
      grown.join(', '),
    )
  }
  const before = await measureFigures(server, dockId)
  before.keeperFiles += 8
  for (let round = 1; round <= counts.client; round++) {
    const stream = client.start('ssh', [...to, 'cat /dev/zero'])
    await new Promise((resolve) => stream.stdout.once('data', resolve))
    stream.kill('SIGKILL')
    output.cut()
  }
  const grown = await findGrowth(server, dockId, before)
  check(`${counts.client} kills of clients: nothing is left behind`, grown.length === 0, grown.join(', '))
  await eventually(() => run(server, dockId, 'touch /tmp/stop'))
  const ended = await eventually(() =>
    server.client.call('waitForDockProcess', { params: { ...params, pid }, query: { timeoutSeconds: 60 } }),
  )
  const seen = await output.done
  const count = seen.split('\n').length - 1
  check(
    'the process lived on, and ended by itself',
    ended.exitCode === 0 && ended.reason !== null,
    `${ended.reason}`,
  )
  check(`its ${count} lines are complete, byte for byte`, count > 0 && seen === linesOf(count))
  const served = await run(
    server,
    dockId,
    'curl -so /dev/null -w "%{http_code}" http://127.0.0.1:7100/ || true',
  )
  check('a daemon that an SSH session started lives', served === '200', served)
  await run(server, dockId, 'pkill -f "[d]aemon.py" || true')
  print(`        the process wrote ${seen.length} bytes`)
}
