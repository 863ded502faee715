/** Both SDKs: a command that writes faster than anybody can ask for its output loses none of it. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createClient, Dock } from '@dock/sdk'
import { startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeTenant, type Tenant } from './support/tenant.ts'

const run = promisify(execFile)
const command = 'seq 2000000'
const length = 14_888_896
/** The program has written all that it can before it is read. */
const head = 'sleep 1'

let server: Awaited<ReturnType<typeof startControlPlaneWithHost>>
let tenant: Tenant
let baseUrl: string
beforeAll(async () => {
  server = await startControlPlaneWithHost()
  baseUrl = `http://127.0.0.1:${(await server.listen()).port}`
  tenant = await makeTenant(server)
})
afterAll(() => server?.stop())

it('in TypeScript', async () => {
  const client = createClient({ baseUrl, apiKey: tenant.owner.apiKey })
  const dock = await Dock.get(tenant.dockId, { client })
  const process = await dock.spawn(command)
  await dock.exec(head)
  const text = await process.stdout.text()
  expect([text.length, text.slice(0, 4), text.slice(-9)]).toEqual([length, '1\n2\n', '\n2000000\n'])
})

it('in Python', async () => {
  const program = `
from dock_sdk import Dock
dock = Dock.get("${tenant.dockId}")
process = dock.spawn("${command}")
dock.exec("${head}")
text = process.stdout.text()
print(len(text), text[:4] == "1\\n2\\n")
`
  const { stdout } = await run('/usr/bin/python3', ['-c', program], {
    env: {
      ...{ PATH: '/usr/bin:/bin', PYTHONPATH: 'sdks/python', PYTHONDONTWRITEBYTECODE: '1' },
      ...{ DOCK_URL: baseUrl, DOCK_API_KEY: tenant.owner.apiKey },
    },
  })
  expect(stdout).toBe(`${length} True\n`)
})
