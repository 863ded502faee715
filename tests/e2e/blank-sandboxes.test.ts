/** Docks whose sandbox was created before it was known for which Dock. */
import { expect, it } from 'vitest'
import { sandboxNamesOf, sandboxOf } from '../crash/processes.ts'
import { createDock, deleteDock, exec, run, untilState } from './support/dock.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()

const cameFromBlank = async (dockId: string): Promise<boolean> =>
  (await sandboxNamesOf(dockId)).some((name) => name.startsWith('blank-'))

it('a Dock from a blank has its own name, disk, variables and network, and survives the next stop and resume', async () => {
  const params = {
    ref: (
      await server.client.call('createEnvironment', {
        body: { organizationId: server.admin.organizationId, name: freshName('variables') },
      })
    ).id,
  }
  await server.client.call('setEnvironmentVariable', { params, body: { key: 'WORD', value: "it's é" } })
  const name = freshName('late')
  const dock = await createDock(server, { name, environment: params.ref })
  await run(server, dock.id, 'echo kept >~/file')
  const body = {}
  const again = { params: { id: dock.id }, body }
  // The blanks have the size that most boots ask for, and are created a moment after a boot.
  await expect
    .poll(
      async () => {
        await server.client.call('stopDock', again)
        await server.client.call('resumeDock', again)
        await untilState(server, dock.id, ['ready'])
        return cameFromBlank(dock.id)
      },
      { timeout: 120_000, interval: 2_000 },
    )
    .toBe(true)
  expect(await run(server, dock.id, 'cat ~/file; hostname; cat /etc/hostname; echo "$WORD"')).toBe(
    `kept\n${name}\n${name}\nit's é\n`,
  )
  const { ip } = await server.client.call('readDock', { params: { id: dock.id } })
  expect(await run(server, dock.id, 'hostname -I')).toContain(ip)
  expect((await exec(server, dock.id, 'sudo id -u')).stdout).toBe('0\n')
  const pid = await sandboxOf(dock.id)
  await server.client.call('stopDock', again)
  await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false)
  await server.client.call('resumeDock', again)
  await untilState(server, dock.id, ['ready'])
  expect(await run(server, dock.id, 'cat ~/file')).toBe('kept\n')
  await deleteDock(server, dock.id)
})

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
