/**
 * What a real Dock gets from its Environment: variables, secret files and its own API key; and what an upgrade removes.
 */
import { createClient } from '@dock/sdk'
import { expect, it } from 'vitest'
import { run } from './support/dock.ts'
import { capturesFolder, filesWith } from './support/search-files.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const { client, admin } = server

/** Creates an Environment. Returns its id as a route parameter. */
const makeEnvironment = async (): Promise<{ ref: string }> => {
  const body = { organizationId: admin.organizationId, name: freshName('secrets') }
  return { ref: (await client.call('createEnvironment', { body })).id }
}
const start = ({ ref }: { ref: string }) =>
  client.call('createDock', {
    body: { workspaceId: admin.workspaceId, cpus: 1, memoryMiB: 1024, diskGiB: 2, environment: ref },
  })
const stop = (id: string) => client.call('stopDock', { params: { id }, body: {} })
const upgrade = async (params: { ref: string }): Promise<void> => {
  const { operation } = await client.call('upgradeEnvironment', { params, body: {} })
  const read = () => client.call('readOperation', { params: { id: operation.id } })
  await expect.poll(async () => (await read()).status, { timeout: 60_000 }).toBe('completed')
}

it('commands see the variables, and the files are in their folder', async () => {
  const params = await makeEnvironment()
  const value = `it's "quoted"\n  $HOME and \\ and \`id\`\nlast line`
  const contents = `first\n'"$x"\n`
  await client.call('setEnvironmentVariable', { params, body: { key: 'SEVERAL', value } })
  await client.call('setEnvironmentFile', { params, body: { path: 'config/token', contents } })
  const { id } = await start(params)
  expect(await run(server, id, 'printf %s "$SEVERAL"')).toBe(value)
  expect(await run(server, id, 'cat /home/user/work/config/token')).toBe(contents)
  expect(await run(server, id, 'stat -c "%a %U" /home/user/work/config/token')).toBe('600 user\n')
})

it('an upgrade removes variables and files from a running Dock, and from a stopped one at its next boot', async () => {
  const params = await makeEnvironment()
  await client.call('setEnvironmentVariable', { params, body: { key: 'REMOVED', value: 'there' } })
  await client.call('setEnvironmentFile', { params, body: { path: 'config/token', contents: 'there' } })
  const [running, stopped] = [await start(params), await start(params)]
  const look = `echo "\${REMOVED-gone} \${ADDED-nothing}"; ls /home/user/work/config`
  expect(await run(server, running.id, look)).toBe('there nothing\ntoken\n')
  await stop(stopped.id)
  await client.call('removeEnvironmentVariable', { params: { ...params, key: 'REMOVED' } })
  await client.call('removeEnvironmentFile', { params: { ...params, path: 'config/token' } })
  await client.call('setEnvironmentVariable', { params, body: { key: 'ADDED', value: 'added' } })
  await upgrade(params)
  expect(await run(server, running.id, look)).toBe('gone added\n')
  await client.call('resumeDock', { params: { id: stopped.id }, body: {} })
  expect(await run(server, stopped.id, look)).toBe('gone added\n')
})

it('a Dock’s key reaches this Dock only, and an upgrade replaces it', async () => {
  const params = await makeEnvironment()
  await client.call('updateEnvironment', { params, body: { passDockCredentials: true } })
  const [mine, other] = [await start(params), await start(params)]
  const keyInDock = (): Promise<string> => run(server, mine.id, 'printf %s "$DOCK_API_KEY"')
  const as = (apiKey: string) => createClient({ baseUrl: admin.baseUrl, apiKey, retries: 0 })
  const own = { params: { id: mine.id } }
  const former = await keyInDock()
  expect(await as(former).call('readDock', own)).toMatchObject({ id: mine.id })
  for (const refused of [
    () => as(former).call('readDock', { params: { id: other.id } }),
    () => as(former).call('listDocks'),
    () => as(former).call('revealEnvironmentSecrets', { params }),
    () => as(former).call('execInDock', { ...own, body: { command: 'true' } }),
  ])
    await expect(refused()).rejects.toMatchObject({ code: 'dock_key_forbidden' })

  await client.call('setEnvironmentVariable', { params, body: { key: 'ADDED', value: 'added' } })
  await upgrade(params)
  const fresh = await keyInDock()
  expect(fresh).not.toBe(former)
  expect(await as(fresh).call('readDock', own)).toMatchObject({ id: mine.id })
  await expect(as(former).call('readDock', own)).rejects.toMatchObject({ code: 'unauthorized' })
})

it('variables and the Dock’s key are never on its disk, unlike files that the user writes', async () => {
  const params = await makeEnvironment()
  const value = freshName('of-a-variable')
  const written = freshName('of-the-user')
  await client.call('setEnvironmentVariable', { params, body: { key: 'HIDDEN', value } })
  await client.call('updateEnvironment', { params, body: { passDockCredentials: true } })
  const { id } = await start(params)
  await run(server, id, `echo ${written} > ~/work/mine`)
  const keys = [await run(server, id, 'printf %s "$DOCK_API_KEY"')]
  await stop(id)
  await client.call('resumeDock', { params: { id }, body: {} })
  keys.push(await run(server, id, 'test -n "$HIDDEN" && printf %s "$DOCK_API_KEY"'))
  await stop(id)
  const snapshot = await client.call('readLatestSnapshot', { params: { id } })
  const capture = [`${await capturesFolder(server)}/${snapshot?.id}`]
  expect(await filesWith(written, capture)).toHaveLength(1)
  for (const secret of [value, ...keys]) {
    expect(secret).not.toBe('')
    expect(await filesWith(secret, capture)).toEqual([])
  }
})
