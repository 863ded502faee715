/** The header `x-dock-runtime` of create and branch, over HTTP. The fake host runs gVisor. */
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, expect, it } from 'vitest'

const server = await startControlPlaneWithHost()
const { port } = await server.listen()
afterAll(() => server.stop())

type Headers = readonly [string, string][]
type Answer = {
  status: number | undefined
  code?: string
  message?: string
  data: { id: string; runtime: string }
}

/** Sends every header on a line of its own, also if there are two of one name. */
const ask = async (path: string, headers: Headers, body: object = {}): Promise<Answer> => {
  const sent = request({ port, path, method: 'POST' })
  const common = { authorization: `Bearer ${server.admin.apiKey}`, 'content-type': 'application/json' }
  for (const [name, value] of Object.entries(common)) sent.setHeader(name, value)
  for (const name of new Set(headers.map(([each]) => each.toLowerCase())))
    sent.setHeader(
      name,
      headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value),
    )
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  sent.once('error', reject)
  sent.once('response', (response) =>
    resolve(json(response).then((answer) => ({ ...(answer as Answer), status: response.statusCode }))),
  )
  sent.end(JSON.stringify(body))
  return promise
}
const create = (headers: Headers, over: object = {}) =>
  ask('/v1/docks', headers, { workspaceId: server.admin.workspaceId, ...over })

const refusal = {
  status: 400,
  code: 'validation_error',
  message: 'x-dock-runtime: must be microvm or gvisor, sent once',
}

it('is refused unless it is one runtime, on create and branch, before anything else is looked at', async () => {
  const { data } = await create([])
  const odd = [
    '',
    'GVISOR',
    'gvisor ,',
    'runsc',
    '"gvisor"',
    'gvisor, microvm',
    'null',
    '%67visor',
    'x'.repeat(4000),
  ]
  for (const value of odd) {
    expect(await create([['x-dock-runtime', value]]), value).toMatchObject(refusal)
    const branch = await ask(`/v1/docks/${data.id}/branch`, [['x-dock-runtime', value]])
    expect(branch, value).toMatchObject(refusal)
  }
  const twice: Headers = [
    ['x-dock-runtime', 'gvisor'],
    ['X-Dock-Runtime', 'gvisor'],
  ]
  expect(await create(twice)).toMatchObject(refusal)
  expect(await create([['X-DOCK-RUNTIME', ' gvisor ']])).toMatchObject({
    status: 201,
    data: { runtime: 'gvisor' },
  })
})

it('asks for a runtime that no host has: no host for an image, a bad request for a disk of the other one', async () => {
  const asked: Headers = [['x-dock-runtime', 'microvm']]
  expect(await create(asked)).toMatchObject({
    status: 503,
    code: 'no_host_capacity',
    message: expect.stringContaining('No host of runtime microvm is online, only of gvisor.'),
  })
  const { data } = await create([])
  expect(await ask(`/v1/docks/${data.id}/branch`, asked)).toMatchObject({
    status: 400,
    code: 'validation_error',
    message: expect.stringContaining('made under gvisor'),
  })
})

it('is part of what an idempotency key stands for, and free again after a refusal', async () => {
  const asking = (runtime: string): Headers => [
    ['idempotency-key', 'key'],
    ['x-dock-runtime', runtime],
  ]
  expect(await create(asking('microvm'))).toMatchObject({ code: 'no_host_capacity' })
  const { data } = await create(asking('gvisor'))
  expect((await create(asking('gvisor'))).data.id).toBe(data.id)
  expect(await create(asking('microvm'))).toMatchObject({ status: 409, code: 'idempotency_key_reused' })
  expect(await create([['idempotency-key', 'key']])).toMatchObject({ code: 'idempotency_key_reused' })
  expect(await create(asking('nonsense'))).toMatchObject(refusal)
})

it('is no field of the body, and other routes do not read it', async () => {
  expect(await create([], { runtime: 'gvisor' })).toMatchObject({
    status: 400,
    message: 'runtime: unknown field',
  })
  const { data } = await create([])
  expect(await ask(`/v1/docks/${data.id}/stop`, [['x-dock-runtime', 'nonsense']])).toMatchObject({
    status: 202,
  })
})
