/** What Docks and their processes survive: the death of each program of a server, its end, and its next start. */
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AppName, killApp, processesOf } from '../support/app-process.ts'
import { createDock, deleteDock, run, untilState } from '../support/dock.ts'
import { followOutput } from '../support/follow-output.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../support/server.ts'

let dataDir: string
let port: number
let server: Server

beforeAll(async () => {
  dataDir = await newDataDir()
  port = await freePort()
  server = await startServer(dataDir, port)
})

afterAll(async () => {
  await server?.interrupt()
  await removeDataDir(dataDir)
})

/** Repeats a call until the service is reachable. */
const eventually = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
  for (const deadline = Date.now() + 60_000; ; await delay(200)) {
    try {
      return await ask()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}

/** Runs a command in the Dock as soon as it is reachable. */
const runEventually = (id: string, command: string): Promise<string> =>
  eventually(() => run(server, id, command))

/** Counts the outputs that the process keeper holds: pipes of which it has only the read end. */
const keptOutputs = async (): Promise<number> => {
  const [keeper] = await processesOf('/process-keeper.mjs', dataDir)
  if (keeper === undefined) return 0
  const folder = `/proc/${keeper}/fd`
  const ends = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const path = join(folder, name)
      const [link, { mode }] = await Promise.all([readlink(path), lstat(path)]).catch(
        () => ['', { mode: 0 }] as const,
      )
      return { link, reads: (mode & 0o400) !== 0 }
    }),
  )
  const isAlone = (link: string) => ends.filter((each) => each.link === link).length === 1
  return ends.filter(({ link, reads }) => reads && link.startsWith('pipe:') && isAlone(link)).length
}

/** Lines of each part of the output, after which the process pauses. */
const partLines = 100
const victims: readonly AppName[] = ['host-agent', 'control-plane', 'host-agent']

describe('a kept process', () => {
  it('delivers every byte of its output once, and its exit code, while agent and control plane are killed', async () => {
    const params = { id: (await createDock(server)).id }
    const command = `for ((i = 1; ; i++)); do
      echo "line $i"
      ((i % ${partLines})) || { [ -e /tmp/enough ] && break; sleep 0.05; }
    done
    echo end; exit 7`
    const { id: pid } = await server.client.call('startDockProcess', { params, body: { command } })
    let seen = Buffer.alloc(0)
    const reading = followOutput(server, { ...params, pid }, (chunk) => {
      seen = Buffer.concat([seen, chunk])
    })
    for (const victim of victims) {
      const before = seen.length
      // Both programs run again, and the output continues, before the next one is killed.
      await expect.poll(() => seen.length, { timeout: 60_000 }).toBeGreaterThan(before)
      await killApp(dataDir, victim)
    }
    await eventually(() =>
      server.client.call('execInDock', { params, body: { command: 'touch /tmp/enough' } }),
    )
    await reading
    const lines = seen.toString().split('\n').length - 2
    expect(lines).toBeGreaterThanOrEqual(partLines)
    let expected = ''
    for (let line = 1; line <= lines; line += 1) expected += `line ${line}\n`
    expected += 'end\n'
    expect(seen.length).toBe(expected.length)
    expect(seen.toString() === expected).toBe(true)
    const place = { params: { ...params, pid }, query: { timeoutSeconds: 30 } }
    const ended = await eventually(() => server.client.call('waitForDockProcess', place))
    expect(ended).toMatchObject({ state: 'ended', exitCode: 7, reason: 'exited' })
    await deleteDock(server, params.id)
  })
})

describe('a Dock survives', () => {
  it('SIGKILL of the agent unharmed, and can be stopped and deleted afterwards', async () => {
    const dock = await createDock(server)
    await run(server, dock.id, 'setsid sleep 4321 >/dev/null 2>&1 & echo $! > pid')
    // It prints a line for each request: somebody must still hold its output.
    await run(server, dock.id, 'python3 -u -m http.server 4300 & sleep 2')
    await expect.poll(keptOutputs, { timeout: 20_000 }).toBe(2)
    await killApp(dataDir, 'host-agent')
    expect(await runEventually(dock.id, 'cat /proc/$(cat pid)/cmdline | tr "\\0" " "')).toContain(
      'sleep 4321',
    )
    const ask = `for i in 1 2 3; do curl -s -o /dev/null -w '%{http_code} ' localhost:4300; done`
    expect(await run(server, dock.id, ask)).toBe('200 200 200 ')
    await server.client.call('stopDock', { params: { id: dock.id }, body: {} })
    await deleteDock(server, dock.id)
  })

  it('SIGKILL of the control plane unharmed', async () => {
    const dock = await createDock(server)
    await run(server, dock.id, 'setsid sleep 4322 >/dev/null 2>&1 & echo $! > pid')
    await killApp(dataDir, 'control-plane')
    expect(await runEventually(dock.id, 'cat /proc/$(cat pid)/cmdline | tr "\\0" " "')).toContain(
      'sleep 4322',
    )
    await deleteDock(server, dock.id)
  })

  it('SIGKILL of the supervisor unharmed: the next start takes over', async () => {
    const dock = await createDock(server)
    await run(server, dock.id, 'setsid sleep 4323 >/dev/null 2>&1 & echo $! > pid')
    process.kill(server.pid, 'SIGKILL')
    await server.ended
    server = await startServer(dataDir, port)
    expect(await runEventually(dock.id, 'cat /proc/$(cat pid)/cmdline | tr "\\0" " "')).toContain(
      'sleep 4323',
    )
    await deleteDock(server, dock.id)
  })

  it('Ctrl-C: nothing stays running or mounted, and the next start boots the Dock from its disk', async () => {
    const dock = await createDock(server)
    await run(server, dock.id, 'echo kept > file')
    expect(await server.interrupt()).toBe(0)
    expect(await processesOf('runsc', dataDir)).toEqual([])
    expect(await readFile('/proc/mounts', 'utf8')).not.toContain(dataDir)
    server = await startServer(dataDir, port)
    await untilState(server, dock.id, ['ready'])
    expect(await runEventually(dock.id, 'cat file')).toBe('kept\n')
    await deleteDock(server, dock.id)
  })

  it('the end of the terminal that the server was started from, like Ctrl-C', async () => {
    const dock = await createDock(server)
    await run(server, dock.id, 'echo kept > file')
    expect(await server.hangUp()).toBe(0)
    expect(await processesOf('runsc', dataDir)).toEqual([])
    expect(await readFile('/proc/mounts', 'utf8')).not.toContain(dataDir)
    server = await startServer(dataDir, port)
    expect(await runEventually(dock.id, 'cat file')).toBe('kept\n')
    await deleteDock(server, dock.id)
  })

  it('a second start on the same folder, which is refused while the first server runs', async () => {
    await expect(startServer(dataDir, await freePort())).rejects.toThrow(/already/)
  })
})
