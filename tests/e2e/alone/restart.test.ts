import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { killApp, processesOf } from '../support/app-process.ts'
import { createDock, deleteDock, run, untilState } from '../support/dock.ts'
import { freePort, newDataDir, removeDataDir, type Server, startServer } from '../support/server.ts'

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

/** Runs a command in the Dock, with retries until the Dock is reachable. */
const eventually = async (id: string, command: string): Promise<string> => {
  const deadline = Date.now() + 60_000
  for (;;) {
    try {
      return await run(server, id, command)
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

/** Counts the outputs that the process keeper holds: pipes of which it has only the read end. */
const keptOutputs = async (): Promise<number> => {
  const [keeper] = await processesOf('process-keeper/main.ts', dataDir)
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

describe('a Dock survives', () => {
  it('SIGKILL of the agent unharmed, and can be stopped and deleted afterwards', async () => {
    const dock = await createDock(server)
    await run(server, dock.id, 'setsid sleep 4321 >/dev/null 2>&1 & echo $! > pid')
    // It prints a line for each request: somebody must still hold its output.
    await run(server, dock.id, 'python3 -u -m http.server 4300 & sleep 2')
    await expect.poll(keptOutputs, { timeout: 20_000 }).toBe(2)
    await killApp(dataDir, 'host-agent')
    expect(await eventually(dock.id, 'cat /proc/$(cat pid)/cmdline | tr "\\0" " "')).toContain('sleep 4321')
    const ask = `for i in 1 2 3; do curl -s -o /dev/null -w '%{http_code} ' localhost:4300; done`
    expect(await run(server, dock.id, ask)).toBe('200 200 200 ')
    await server.client.call('stopDock', { params: { id: dock.id }, body: {} })
    await deleteDock(server, dock.id)
  })

  it('SIGKILL of the control plane unharmed', async () => {
    const dock = await createDock(server)
    await run(server, dock.id, 'setsid sleep 4322 >/dev/null 2>&1 & echo $! > pid')
    await killApp(dataDir, 'control-plane')
    expect(await eventually(dock.id, 'cat /proc/$(cat pid)/cmdline | tr "\\0" " "')).toContain('sleep 4322')
    await deleteDock(server, dock.id)
  })

  it('SIGKILL of the supervisor unharmed: the next start takes over', async () => {
    const dock = await createDock(server)
    await run(server, dock.id, 'setsid sleep 4323 >/dev/null 2>&1 & echo $! > pid')
    process.kill(server.pid, 'SIGKILL')
    await server.ended
    server = await startServer(dataDir, port)
    expect(await eventually(dock.id, 'cat /proc/$(cat pid)/cmdline | tr "\\0" " "')).toContain('sleep 4323')
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
    expect(await eventually(dock.id, 'cat file')).toBe('kept\n')
    await deleteDock(server, dock.id)
  })

  it('the end of the terminal that the server was started from, like Ctrl-C', async () => {
    const dock = await createDock(server)
    await run(server, dock.id, 'echo kept > file')
    expect(await server.hangUp()).toBe(0)
    expect(await processesOf('runsc', dataDir)).toEqual([])
    expect(await readFile('/proc/mounts', 'utf8')).not.toContain(dataDir)
    server = await startServer(dataDir, port)
    expect(await eventually(dock.id, 'cat file')).toBe('kept\n')
    await deleteDock(server, dock.id)
  })

  it('a second start on the same folder, which is refused while the first server runs', async () => {
    await expect(startServer(dataDir, await freePort())).rejects.toThrow(/already/)
  })
})
