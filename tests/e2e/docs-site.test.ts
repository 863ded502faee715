import { expect, it } from 'vitest'
import { useServer } from './support/use-server.ts'

const server = useServer()

it('the server shows the documentation that script/bootstrap built', async () => {
  const response = await fetch(`${server.admin.baseUrl}/docs/reference/docks/`)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('id="createDock"')
  expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
})
