/**
 * With `secretsAccess: admins`, a member tries every way to reach the secrets of a Dock, and all are refused. As a
 * control, an admin uses the same ways, and the member uses them on a Dock without secrets.
 */
import { newUuid } from '@dock/foundation'
import { startControlPlaneWithHost, type TestControlPlane, type TestPerson } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ask, makeTenant, type Tenant } from './support/tenant.ts'

/** No process has this id. */
const absent = '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11'
const refusal = 'environment_secrets_admin_only'

let server: TestControlPlane
let tenant: Tenant
beforeAll(async () => {
  server = await startControlPlaneWithHost({ confinesProcesses: true })
  tenant = await makeTenant(server)
})
afterAll(() => server.stop())

const asOwner = <Data>(method: string, path: string, body?: unknown) =>
  ask<Data>(server, tenant.owner, method, path, body)
const create = (body: object) =>
  asOwner<{ id: string }>('POST', '/v1/docks', { workspaceId: tenant.workspaceId, ...body })

/** Returns the error code of the response, or `ok`. */
const outcome = async (
  { apiKey }: TestPerson,
  [method, path, body]: readonly [string, string, object?],
): Promise<string> => {
  const response = await server.fetch(path, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (response.ok) return 'ok'
  return ((await response.json()) as { code: string }).code
}

type Resources = { running: string; stopped: string; snapshot: string; template: string; environment: string }

/** All ways by name. None changes state that another needs. */
const waysTo = ({ running, stopped, snapshot, template, environment }: Resources) => {
  const { workspaceId } = tenant
  const run = { command: 'true' }
  return {
    tree: ['GET', `/v1/snapshots/${snapshot}/tree`],
    file: ['GET', `/v1/snapshots/${snapshot}/files?path=/etc/hostname`],
    download: ['GET', `/v1/snapshots/${snapshot}/download`],
    exec: ['POST', `/v1/docks/${running}/exec`, run],
    terminal: ['POST', `/v1/docks/${running}/terminal`],
    'file of a Dock': ['GET', `/v1/docks/${running}/files?path=/etc/hostname`],
    'folder of a Dock': ['GET', `/v1/docks/${running}/files/list?path=/etc`],
    'watch of a Dock': ['GET', `/v1/docks/${running}/files/watch?path=/absent`],
    'write to a Dock': ['PUT', `/v1/docks/${running}/files?path=/absent/a`],
    'delete in a Dock': ['DELETE', `/v1/docks/${running}/files?path=/absent/a`],
    'folder made in a Dock': ['POST', `/v1/docks/${running}/files/mkdir`, { path: '/absent/a' }],
    'move in a Dock': ['POST', `/v1/docks/${running}/files/move`, { from: '/absent/a', to: '/absent/b' }],
    process: ['POST', `/v1/docks/${running}/processes`, run],
    'list of processes': ['GET', `/v1/docks/${running}/processes`],
    'state of a process': ['GET', `/v1/docks/${running}/processes/${absent}`],
    'output of a process': ['GET', `/v1/docks/${running}/processes/${absent}/output`],
    'input of a process': ['POST', `/v1/docks/${running}/processes/${absent}/stdin?offset=0`],
    'end of input of a process': ['POST', `/v1/docks/${running}/processes/${absent}/stdin/close`],
    'size of a process': ['POST', `/v1/docks/${running}/processes/${absent}/resize`, { cols: 1, rows: 1 }],
    'signal to a process': ['POST', `/v1/docks/${running}/processes/${absent}/signal`, { signal: 'HUP' }],
    'wait for a process': ['GET', `/v1/docks/${running}/processes/${absent}/wait`],
    'list of ports': ['GET', `/v1/docks/${running}/ports`],
    port: ['POST', `/v1/docks/${running}/ports`, { port: 8080 }],
    'end of a port': ['DELETE', `/v1/docks/${running}/ports/8080`],
    create: ['POST', '/v1/docks', { workspaceId, environment }],
    template: ['POST', '/v1/docks', { workspaceId, from: template, environment: 'open' }],
    'template without': ['POST', '/v1/docks', { workspaceId, from: template, noEnv: true }],
    branch: ['POST', `/v1/docks/${running}/branch`, {}],
    'branch without': ['POST', `/v1/docks/${running}/branch`, { noEnv: true }],
    'branch into another': ['POST', `/v1/docks/${running}/branch`, { environment: 'open' }],
    'branch of the stopped': ['POST', `/v1/docks/${stopped}/branch`, { noEnv: true }],
    'resume into another': ['POST', `/v1/docks/${stopped}/resume`, { environment: 'open' }],
    'resume without': ['POST', `/v1/docks/${stopped}/resume`, { noEnv: true }],
    resume: ['POST', `/v1/docks/${stopped}/resume`, {}],
  } as const
}

/** Creates a running and a stopped Dock in an Environment, a Snapshot and a Template. */
const makeResources = async (environment: string): Promise<Resources> => {
  const [running, stopped] = [await create({ environment }), await create({ environment })]
  await asOwner('POST', `/v1/docks/${stopped.id}/stop`, {})
  const snapshot = await asOwner<{ id: string }>('GET', `/v1/docks/${stopped.id}/snapshots/latest`)
  const template = `t-${newUuid().slice(0, 8)}`
  await asOwner('POST', '/v1/templates', { dockId: running.id, name: template })
  return { running: running.id, stopped: stopped.id, snapshot: snapshot.id, template, environment }
}

it('refuses the member on every way, and nobody else', { timeout: 180_000 }, async () => {
  const { organizationId, member, admin } = tenant
  for (const [name, secretsAccess] of [
    ['closed', 'admins'],
    ['open', 'members'],
  ])
    await asOwner('POST', '/v1/environments', { organizationId, name, secretsAccess })
  const path = `/v1/environments/closed/files?organizationId=${organizationId}`
  await asOwner('POST', path, { path: 'token', contents: 'hidden' })
  const [closed, open] = [await makeResources('closed'), await makeResources('open')]

  const ways = Object.entries(waysTo(closed))
  for (const [way, request] of ways) expect([way, await outcome(member, request)]).toEqual([way, refusal])
  // Control: the same ways are open without secrets and to admins, so the refusals above are due to the secrets.
  for (const [way, request] of Object.entries(waysTo(open)))
    expect([way, await outcome(member, request)]).not.toEqual([way, refusal])
  for (const [way, request] of ways) expect([way, await outcome(admin, request)]).not.toEqual([way, refusal])
})
