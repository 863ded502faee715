/** A command ends with its caller if the caller asked for it, with everything that it started. */
import { expect, it } from 'vitest'
import { createDock, exec } from './support/dock.ts'
import { useServer } from './support/use-server.ts'

const server = useServer()
const patiently = { timeout: 60_000, interval: 250 }

it('a caller that disconnects ends its command only with the header', async () => {
  const { id } = await createDock(server)
  const running = async (): Promise<string[]> =>
    (await exec(server, id, "pgrep -fa '^sleep 777' | cut -d' ' -f2-")).stdout
      .split('\n')
      .filter(Boolean)
      .sort()
  const begin = (command: string, headers: Record<string, string>): AbortController => {
    const caller = new AbortController()
    fetch(`${server.admin.baseUrl}/v1/docks/${id}/exec`, {
      method: 'POST',
      headers: {
        ...headers,
        authorization: `Bearer ${server.admin.apiKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ command, timeoutSeconds: 600 }),
      signal: caller.signal,
    }).catch(() => undefined)
    return caller
  }
  const callers = [
    begin('setsid sleep 7771 & sleep 7772', { 'x-dock-cancel-on-disconnect': 'true' }),
    begin('sleep 7773; true', {}),
  ]
  await expect.poll(running, patiently).toEqual(['sleep 7771', 'sleep 7772', 'sleep 7773'])
  for (const caller of callers) caller.abort()
  await expect.poll(running, patiently).toEqual(['sleep 7773'])
})
