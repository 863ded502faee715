import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sandboxNamesOf } from '../crash/processes.ts'
import { createDock, exec, run } from './support/dock.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
/** The default size of a create, which the warm pool holds. */
const usual = { cpus: 2, memoryMiB: 4096, diskGiB: 20 }
const patient = { timeout: 90_000, interval: 200 }

/** Lists this server's sandboxes. Their names contain the Dock and the generation at boot. */
const sandboxes = async (): Promise<string[]> => {
  const names = await readdir(join(server.dataDir, 'host/runsc'))
  return [
    ...new Set(names.flatMap((name) => /^(d[0-9a-f]{32}g[0-9a-f]{8})_.*\.state$/.exec(name)?.[1] ?? [])),
  ]
}
const bootedFor = (dockId: string, generation: number): string =>
  `d${dockId.replaceAll('-', '')}g${generation.toString(16).padStart(8, '0')}`

/** Returns true if the kernel reports the sandbox's cgroup as frozen. */
const isFrozen = async (sandbox: string): Promise<boolean> => {
  const one = await readFile(`/sys/fs/cgroup/freezer/dock/${sandbox}/freezer.state`, 'utf8').catch(() => null)
  if (one !== null) return one.trim() === 'FROZEN'
  return (await readFile(`/sys/fs/cgroup/dock/${sandbox}/cgroup.events`, 'utf8')).includes('frozen 1')
}

/** Waits until the warm pool has this many frozen sandboxes. */
const waitForWarmSandboxes = (count: number): Promise<void> =>
  expect
    .poll(async () => {
      const warm = (await sandboxes()).filter((sandbox) => sandbox.endsWith('g00000000'))
      return (await Promise.all(warm.map(isFrozen))).filter(Boolean).length
    }, patient)
    .toBeGreaterThanOrEqual(count)

describe('the warm pool', () => {
  it('provides sandboxes that become Docks, each with its own name and identity', async () => {
    await waitForWarmSandboxes(2)
    const [one, other] = [await createDock(server, usual), await createDock(server, usual)]
    const running = await sandboxes()
    expect(running).toEqual(expect.arrayContaining([bootedFor(one.id, 0), bootedFor(other.id, 0)]))
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
    expect(await sandboxes()).toContain(bootedFor(dock.id, 0))
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
    const sandboxOf = async (dockId: string) => (await sandboxNamesOf(dockId)).at(-1) ?? ''
    const [idleSandbox, busySandbox] = [await sandboxOf(idle.id), await sandboxOf(busy.id)]
    await expect.poll(() => isFrozen(idleSandbox), patient).toBe(true)
    expect(await isFrozen(busySandbox)).toBe(false)
    expect(await run(server, idle.id, 'cat /tmp/file')).toBe('here\n')
    await run(server, busy.id, 'kill $(cat /tmp/pid)')
    await expect.poll(() => isFrozen(busySandbox), patient).toBe(true)
    await expect.poll(() => isFrozen(idleSandbox), patient).toBe(true)
  })
})
