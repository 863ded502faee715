import { release } from 'node:os'
import { describe, expect, it } from 'vitest'
import { createDock, deleteDock, exec, run } from './support/dock.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()

describe('the first start', () => {
  it('creates a first Dock, runs uname in it, and prints the next steps', () => {
    expect(server.output()).toContain('Linux')
    expect(server.output()).toMatch(/curl .*\/v1\/docks/)
  })

  it('writes working credentials to admin.json', async () => {
    const me = await server.client.call('readMe', {})
    expect(me).toMatchObject({ email: server.admin.email, emailVerified: true, instanceAdmin: true })
  })
})

describe('a Dock', () => {
  it('is created, read, listed, used and deleted over HTTP', async () => {
    const name = freshName('first-of-all')
    const dock = await createDock(server, { name })
    expect(dock).toMatchObject({
      name,
      state: 'ready',
      runtime: process.env.DOCK_RUNTIME ?? 'gvisor',
      setupStatus: expect.any(String),
    })
    const listed = await server.client.call('listDocks', { query: {} })
    expect(listed.map(({ id }) => id)).toContain(dock.id)
    expect(await exec(server, dock.id, 'echo out; echo err >&2; exit 7')).toMatchObject({
      exitCode: 7,
      stdout: 'out\n',
      stderr: 'err\n',
      truncated: false,
    })
    await deleteDock(server, dock.id)
    await expect(server.client.call('readDock', { params: { id: dock.id } })).rejects.toMatchObject({
      code: 'dock_not_found',
      status: 404,
    })
  })

  it('is a separate machine: kernel, processes, disk, memory, user', async () => {
    const dock = await createDock(server, { memoryMiB: 768, diskGiB: 3 })
    expect(await run(server, dock.id, 'uname -r')).not.toContain(release())
    // Threads of a kernel of its own have no arguments.
    const processes = `for each in /proc/[0-9]*/cmdline; do grep -qs . "$each" && echo "$each"; done | wc -l`
    expect(Number(await run(server, dock.id, processes))).toBeLessThan(20)
    expect(await run(server, dock.id, 'id -un; pwd; echo $HOME')).toBe('user\n/home/user/work\n/home/user\n')
    expect(await run(server, dock.id, 'sudo id -u')).toBe('0\n')
    // An orphan that is never reaped would exist for `kill` forever.
    const orphan = `bash -c 'sleep 0.05 & echo $!' >orphan`
    const ended = 'while kill -0 "$(<orphan)" 2>/dev/null; do sleep 0.02; done; echo gone'
    expect(await run(server, dock.id, `${orphan}; ${ended}`)).toBe('gone\n')
    const diskGiB = Number(await run(server, dock.id, 'df -k --output=size / | tail -1')) / 1024 / 1024
    expect(diskGiB).toBeGreaterThan(3)
    expect(diskGiB).toBeLessThan(3.1)
    const memoryMiB = Number(await run(server, dock.id, "awk '/MemTotal/ {print $2}' /proc/meminfo")) / 1024
    expect(memoryMiB).toBeLessThanOrEqual(768)
    await deleteDock(server, dock.id)
  })

  it('cannot write more than its disk size, and its neighbour is unaffected', async () => {
    const [small, neighbour] = await Promise.all([createDock(server, { diskGiB: 1 }), createDock(server)])
    const fill = 'dd if=/dev/zero of=big bs=1MB count=1500 status=none; rm -f big'
    const full = await exec(server, small.id, fill, { timeoutSeconds: 120 })
    expect(full.stderr).toContain('No space left')
    expect(await run(server, neighbour.id, 'echo fine > here && cat here')).toBe('fine\n')
    await Promise.all([deleteDock(server, small.id), deleteDock(server, neighbour.id)])
  })

  it('kills a command and its process tree at the timeout', async () => {
    const dock = await createDock(server)
    await expect(
      exec(server, dock.id, 'setsid sleep 4711 & nohup sleep 4712 & sleep 4713', { timeoutSeconds: 1 }),
    ).rejects.toMatchObject({ code: 'exec_timeout', status: 504 })
    expect(
      await run(
        server,
        dock.id,
        'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 471[123]" || true',
      ),
    ).toBe('0\n')
    await deleteDock(server, dock.id)
  })

  it('truncates stdout and stderr at 1 MiB each', async () => {
    const dock = await createDock(server)
    const result = await exec(server, dock.id, 'head -c 3000000 /dev/zero | tr "\\0" x')
    expect(result.truncated).toBe(true)
    expect(result.stdout.length).toBe(1024 * 1024)
    await deleteDock(server, dock.id)
  })
})
