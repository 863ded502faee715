import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createDock, exec, run } from './support/dock.ts'
import { isFrozen } from './support/is-frozen.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
/** The default size of a create, which the warm pool holds. */
const usual = { cpus: 2, memoryMiB: 4096, diskGiB: 20 }
const patient = { timeout: 90_000, interval: 200 }

/** The Docks whose sandboxes were booted for the pool, by the agent's records: those in it, and those that left it. */
const ofPool = async (): Promise<{ waiting: string[]; claimed: string[] }> => {
  const folder = join(server.dataDir, 'host/handles')
  const found: { waiting: string[]; claimed: string[] } = { waiting: [], claimed: [] }
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '{}')
    const record = JSON.parse(text) as {
      dockId?: string
      phase?: string
      generation?: number
      sandbox?: { generation: number } | null
    }
    if (!record.dockId || record.phase !== 'running' || record.sandbox?.generation !== 0) continue
    found[record.generation === 0 ? 'waiting' : 'claimed'].push(record.dockId)
  }
  return found
}

/** Waits until the warm pool has this many frozen sandboxes. */
const waitForWarmSandboxes = (count: number): Promise<void> =>
  expect
    .poll(async () => {
      const { waiting } = await ofPool()
      return (await Promise.all(waiting.map((id) => isFrozen(id).catch(() => false)))).filter(Boolean).length
    }, patient)
    .toBeGreaterThanOrEqual(count)

describe('the warm pool', () => {
  it('provides sandboxes that become Docks, each with its own name and identity', async () => {
    await waitForWarmSandboxes(2)
    const [one, other] = [await createDock(server, usual), await createDock(server, usual)]
    expect((await ofPool()).claimed).toEqual(expect.arrayContaining([one.id, other.id]))
    const identity = 'hostname; cat /etc/machine-id; hostname -I'
    const [mine, theirs] = [await run(server, one.id, identity), await run(server, other.id, identity)]
    expect(mine).toMatch(new RegExp(`^${one.name}\n[0-9a-f]{32}\n`))
    expect(mine.split('\n')[1]).not.toBe(theirs.split('\n')[1])
    expect(mine.split('\n')[2]).not.toBe(theirs.split('\n')[2])
  })

  it('applies a given name and variables to a Dock', async () => {
    await waitForWarmSandboxes(1)
    const name = freshName('warm')
    const dock = await server.client.call('createDock', {
      body: { workspaceId: server.admin.workspaceId, ...usual, name, env: { TOKEN: "it's\na secret" } },
    })
    expect((await ofPool()).claimed).toContain(dock.id)
    const said = await run(
      server,
      dock.id,
      'hostname; cat /etc/hostname; getent hosts "$HOSTNAME"; echo "$TOKEN"',
    )
    expect(said).toMatch(new RegExp(`^${name}\n${name}\n127.0.1.1 +${name}\nit's\na secret\n$`))
    const own = await exec(server, dock.id, 'echo "$TOKEN"', { env: { TOKEN: 'of this call' } })
    expect(own.stdout).toBe('of this call\n')
    expect(await run(server, dock.id, 'sudo grep -rls "a secret" /etc /home /root /var /opt || true')).toBe(
      '',
    )
  })

  it('provides Docks that stop and resume like any other', async () => {
    await waitForWarmSandboxes(1)
    const dock = await createDock(server, usual)
    await run(server, dock.id, 'echo kept > file; cat /etc/machine-id > identity')
    await server.client.call('stopDock', { params: { id: dock.id }, body: {} })
    await server.client.call('resumeDock', { params: { id: dock.id }, body: {} })
    expect(await run(server, dock.id, 'cat file; cmp identity /etc/machine-id && hostname')).toBe(
      `kept\n${dock.name}\n`,
    )
  })
})

describe('a Dock in which nothing runs', () => {
  it('is frozen after a while and keeps its state, but not while a program runs', async () => {
    const [idle, busy] = [await createDock(server), await createDock(server)]
    await run(server, busy.id, 'setsid sleep 1000 >/dev/null 2>&1 & echo $! > /tmp/pid')
    await run(server, idle.id, 'echo here > /tmp/file')
    await expect.poll(() => isFrozen(idle.id), patient).toBe(true)
    expect(await isFrozen(busy.id)).toBe(false)
    expect(await run(server, idle.id, 'cat /tmp/file')).toBe('here\n')
    await run(server, busy.id, 'kill $(cat /tmp/pid)')
    await expect.poll(() => isFrozen(busy.id), patient).toBe(true)
    await expect.poll(() => isFrozen(idle.id), patient).toBe(true)
  })
})
