/** Inside a Dock: variables, the setup script, commands, usage samples. */
import { expect, it } from 'vitest'
import { createDock, deleteDock, exec, run } from './support/dock.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const { client } = server
const read = (id: string) => client.call('readDock', { params: { id } })
const create = (over: object) =>
  client.call('createDock', {
    body: { workspaceId: server.admin.workspaceId, cpus: 1, memoryMiB: 512, diskGiB: 1, ...over },
  })
const patiently = { timeout: 60_000, interval: 250 }

it('variables are set in every shell, survive a stop, and a branch can override them', async () => {
  const dock = await create({ env: { GREETING: 'hello  "world"\nagain', OTHER: 'one' } })
  expect(await run(server, dock.id, 'printf %s "$GREETING"')).toBe('hello  "world"\nagain')
  expect(await run(server, dock.id, 'bash -lc "printf %s \\"\\$OTHER\\""')).toBe('one')
  const given = await exec(server, dock.id, 'printf %s "$OTHER"', { env: { OTHER: 'for this call' } })
  expect(given.stdout).toBe('for this call')
  // /tmp is on the disk. In memory it would be lost at a stop, and would use the Dock's memory.
  await run(server, dock.id, 'echo kept >/tmp/kept; [ "$(stat -c %d /tmp)" = "$(stat -c %d /)" ]')
  await client.call('stopDock', { params: { id: dock.id }, body: {} })
  await client.call('resumeDock', { params: { id: dock.id }, body: {} })
  expect(await run(server, dock.id, 'printf %s "$OTHER"; cat /tmp/kept')).toBe('onekept\n')
  const copy = await client.call('branchDock', { params: { id: dock.id }, body: { env: { OTHER: 'two' } } })
  expect(await run(server, copy.id, 'printf "%s/%s" "$OTHER" "$GREETING"')).toBe('two/hello  "world"\nagain')
})

it('the setup script runs once after ready, as the Dock’s user, and its result is reported', async () => {
  const dock = await create({
    env: { SECRET: 'a-secret-value' },
    setupScript: 'id -un; echo made > ~/work/made; echo "with $SECRET"',
  })
  expect(dock.state).toBe('ready')
  await expect.poll(async () => (await read(dock.id)).setupStatus, patiently).toBe('done')
  expect(await run(server, dock.id, 'cat ~/work/made')).toBe('made\n')
  expect(await run(server, dock.id, 'cat ~/.dock/setup.log')).toBe('user\nwith a-secret-value\n')
  const broken = await create({
    env: { SECRET: 'a-secret-value' },
    setupScript: 'echo "using $SECRET" >&2; printf "a\\0b\\n"; exit 3',
  })
  await expect.poll(async () => (await read(broken.id)).setupStatus, patiently).toBe('failed')
  expect(await read(broken.id)).toMatchObject({
    state: 'ready',
    setupError: 'exit code 3\nusing ***\na\ufffdb',
  })
})

it('a stop ends a running setup script', async () => {
  const dock = await create({ setupScript: 'sleep 600' })
  await expect.poll(async () => (await read(dock.id)).setupStatus, patiently).toBe('running')
  await client.call('stopDock', { params: { id: dock.id }, body: {} })
  expect(await read(dock.id)).toMatchObject({ setupStatus: 'failed', setupError: 'stopped' })
})

it('at most four commands run at once, and a forced stop ends them', async () => {
  const dock = await createDock(server, { name: freshName('busy') })
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'ran',
      (error) => error.code,
    )
  // Runs until it is ended. Retries if the check below took its slot.
  const hold = async (): Promise<string> => {
    const code = await codeOf(exec(server, dock.id, 'exec sleep 600', { timeoutSeconds: 600 }))
    return code === 'rate_limited' ? hold() : code
  }
  const four = Array.from({ length: 4 }, hold)
  await expect.poll(() => codeOf(exec(server, dock.id, 'true')), patiently).toBe('rate_limited')
  await client.call('stopDock', { params: { id: dock.id }, body: { force: true } })
  expect((await read(dock.id)).state).toBe('archived')
  for (const outcome of await Promise.all(four))
    expect(['dock_not_running', 'exec_failed']).toContain(outcome)
})

it('returns output as valid text, truncated between characters', async () => {
  const dock = await createDock(server)
  const binary = await exec(server, dock.id, "printf 'a\\377b'; printf 'é' >&2")
  expect(binary).toMatchObject({ stdout: 'a\ufffdb', stderr: 'é', truncated: false })
  const long = await exec(server, dock.id, "printf 'x'; yes é | tr -d '\\n' | head -c 3000000")
  expect(long.truncated).toBe(true)
  expect(Buffer.byteLength(long.stdout)).toBe(1024 * 1024 - 1)
  expect(long.stdout).not.toContain('\ufffd')
  const late = exec(server, dock.id, 'sleep 60', { timeoutSeconds: 1 })
  await expect(late).rejects.toMatchObject({ code: 'exec_timeout' })
  const lost = exec(server, dock.id, 'true', { cwd: '/no/such/folder' })
  await expect(lost).rejects.toMatchObject({ code: 'validation_error' })
})

it('reports its resource usage', async () => {
  const dock = await createDock(server)
  const sample = async () =>
    (await client.call('readDockStats', { params: { id: dock.id }, query: {} })).sample
  await expect.poll(sample, patiently).not.toBeNull()
  const { window } = await client.call('readDockStats', {
    params: { id: dock.id },
    query: { window: '1h' },
  })
  expect(window?.samples).toBeGreaterThan(0)
  expect((await sample())?.memLimit).toBe(1024 * 1024 ** 2)
  await deleteDock(server, dock.id)
})
