/** Sign-in at a service that means harm. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { Output } from '../output/output.ts'
import { Context } from '../program/context.ts'
import { Input } from '../program/input.ts'
import { signInByDevice } from './device-sign-in.ts'

let code: Record<string, unknown>
let headers: IncomingMessage['headers'][] = []
const server = createServer((request, response) => {
  headers.push(request.headers)
  const data =
    request.url === '/v1/device/code' ? code : { state: 'approved', id: 'key-id', apiKey: 'dock_new' }
  response.end(JSON.stringify({ ok: true, data }))
})
let url: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())
beforeEach(() => {
  headers = []
  code = {
    deviceCode: 'secret',
    userCode: 'BCDF-GHJK',
    intervalSeconds: 1,
    verificationUrl: 'https://a.test/device',
    verificationUrlComplete: 'https://a.test/device?code=1',
    expiresAt: new Date(Date.now() + 60_000).toISOString(),
  }
})

const signIn = async () => {
  let text = ''
  const sink = {
    write: (chunk: string | Uint8Array) => {
      text += String(chunk)
      return true
    },
  }
  const out = new Output({ stdout: sink, stderr: sink, env: {}, isJson: false, isQuiet: false })
  const context = new Context(out, {}, '/', new Input(new Map(), new Map([['no-input', true]]), []))
  const key = await signInByDevice(context, url)
  return { text, key }
}

it('returns the key, and sends none', async () => {
  process.env.DOCK_API_KEY = 'dock_of_another_service'
  try {
    const { text, key } = await signIn()
    expect(key).toEqual({ apiKey: 'dock_new', keyId: 'key-id' })
    expect(text).toBe('Open https://a.test/device and compare or enter the code: BCDF-GHJK\n')
    expect(headers).toHaveLength(2)
    expect(JSON.stringify(headers)).not.toContain('another_service')
  } finally {
    delete process.env.DOCK_API_KEY
  }
})

it('prints nothing that a terminal obeys', async () => {
  code.userCode = 'A\u001b]52;c;eA==\u0007B'
  code.verificationUrl = 'https://a.test/\u001b[2Jx'
  expect((await signIn()).text).not.toMatch(/\p{Cc}(?<!\n)/u)
})

it.each(['javascript:alert(1)', 'file:///etc/passwd', '-x', 'ms-settings:'])(
  'opens no page such as %s',
  async (page) => {
    code.verificationUrlComplete = page
    await expect(signIn()).rejects.toThrow('no web page')
  },
)
