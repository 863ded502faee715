/** Posts to a real TLS server on loopback, with a certificate authority of the test's own. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { setGlobalProxyFromEnv } from 'node:http'
import { get } from 'node:https'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { makeCertificate } from '@dock/testkit/src/make-certificate.ts'
import { answerWith, drip, type Receiver, startReceiver } from '@dock/testkit/src/public-web/receiver.ts'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { connectToAddress, WrongPeer } from './connect-checked.ts'
import { type PublicPost, postToPublicUrl } from './post-public.ts'

let folder: string
let receiver: Receiver
/** Accepts connections without TLS. */
let plain: Receiver
/** Its certificate comes from an authority that nobody trusts. */
let stranger: Receiver
/** Has an address that is not in its certificate. */
let elsewhere: Receiver

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-public-web-'))
  const certificate = await makeCertificate(folder, 'hooks.localhost', 'localhost', '127.0.0.1')
  const authority = await readFile(certificate.authority, 'utf8')
  receiver = await startReceiver(certificate)
  plain = await startReceiver()
  elsewhere = await startReceiver(certificate, '127.0.0.2')
  const foreign = await mkdtemp(join(folder, 'foreign-'))
  stranger = await startReceiver(await makeCertificate(foreign, 'hooks.localhost'))
  setDefaultCACertificates([...getCACertificates('default'), authority])
})

afterEach(async () => {
  vi.unstubAllEnvs()
  for (const each of [receiver, plain, stranger, elsewhere]) {
    // Nothing stays open after a post, whatever its outcome.
    await each.untilQuiet()
    each.answer = answerWith('204 No Content')
    each.received.length = 0
    each.connections = 0
  }
})

afterAll(async () => {
  for (const each of [receiver, plain, stranger, elsewhere]) await each.close()
  await rm(folder, { recursive: true })
})

const post = (changes: Partial<PublicPost> = {}) =>
  postToPublicUrl({
    url: `https://hooks.localhost:${receiver.port}/in?x=1`,
    headers: { 'content-type': 'application/json', 'dock-signature': 't=1,v1=ab' },
    body: '{"id":"ä"}',
    deadlineMs: 5_000,
    resolver: async () => ['127.0.0.1'],
    allowLoopback: true,
    ...changes,
  })

/** Asserts that the post ends at its deadline and not when the receiver is done. */
const expectTimeout = async (changes: Partial<PublicPost> = {}): Promise<void> => {
  const begin = performance.now()
  expect(await post({ deadlineMs: 400, ...changes })).toMatchObject({ status: null, error: 'timed_out' })
  expect(performance.now() - begin).toBeGreaterThan(390)
  expect(performance.now() - begin).toBeLessThan(3_000)
}

describe('delivers', () => {
  it('to the checked address, with name, headers and body', async () => {
    expect(await post()).toEqual({ status: 204, retryAfterSeconds: null, answer: '', error: null })
    const [{ text, serverName, protocol } = { text: '', serverName: '', protocol: '' }] = receiver.received
    expect(text).toMatch(/^POST \/in\?x=1 HTTP\/1\.1\r\n/)
    const lines = text.toLowerCase().split('\r\n')
    expect(lines).toContain(`host: hooks.localhost:${receiver.port}`)
    expect(lines).toEqual(expect.arrayContaining(['connection: close', 'content-length: 11']))
    expect(lines).toContain('dock-signature: t=1,v1=ab')
    expect(Buffer.from(text, 'latin1').toString('utf8')).toMatch(/\r\n\r\n\{"id":"ä"\}$/)
    expect([serverName, protocol]).toEqual(['hooks.localhost', 'http/1.1'])
  })

  it('to an address in the URL, without a server name and without asking a name server', async () => {
    const resolver = vi.fn()
    expect(await post({ url: `https://127.0.0.1:${receiver.port}/`, resolver })).toMatchObject({
      status: 204,
    })
    expect(receiver.received[0]?.serverName).toBe(false)
    expect(resolver).not.toHaveBeenCalled()
  })

  it('without TLS to loopback in development', async () => {
    const url = `http://localhost:${plain.port}/`
    expect(await post({ url })).toMatchObject({ status: 204 })
    expect(await post({ url, allowLoopback: false })).toMatchObject({ error: 'address_not_public' })
    expect(plain.connections).toBe(1)
  })

  it('over a new connection each time', async () => {
    await post()
    await receiver.untilQuiet()
    await post()
    expect(receiver.connections).toBe(2)
  })

  it('past an address that refuses the connection', async () => {
    expect(await post({ resolver: async () => ['127.0.0.2', '::1', '127.0.0.1'] })).toMatchObject({
      status: 204,
    })
  })

  it('without the proxy of the environment', async () => {
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY'])
      vi.stubEnv(name, `http://127.0.0.1:${plain.port}`)
    plain.answer = answerWith('502 Bad Gateway')
    const restore = setGlobalProxyFromEnv()
    try {
      const viaProxy = get(`https://hooks.localhost:${receiver.port}/`)
      await new Promise((resolve) => viaProxy.once('error', resolve))
      expect(plain.received[0]?.text).toMatch(/^CONNECT /)
      expect(await post()).toMatchObject({ status: 204 })
      expect(plain.connections).toBe(1)
    } finally {
      restore()
    }
  })
})

describe('reads of the answer', () => {
  it.each([200, 202, 302, 400, 404, 408, 410, 429, 500, 503])('the status %d', async (status) => {
    receiver.answer = answerWith(`${status} X`)
    expect(await post()).toEqual({ status, retryAfterSeconds: null, answer: '', error: null })
  })

  it('no redirect', async () => {
    const location = `https://hooks.localhost:${receiver.port}/other`
    receiver.answer = answerWith('307 Temporary Redirect', `location: ${location}`)
    expect(await post()).toMatchObject({ status: 307 })
    expect(receiver.connections).toBe(1)
  })

  it('Retry-After in seconds and as a date', async () => {
    receiver.answer = answerWith('429 X', 'retry-after: 120')
    expect(await post()).toEqual({ status: 429, retryAfterSeconds: 120, answer: '', error: null })
    const inAMinute = new Date(Date.now() + 60_000).toUTCString()
    receiver.answer = answerWith('503 X', `retry-after: ${inAMinute}`)
    const { retryAfterSeconds } = (await post()) as { retryAfterSeconds: number }
    expect(retryAfterSeconds).toBeGreaterThan(50)
    expect(retryAfterSeconds).toBeLessThanOrEqual(60)
  })

  it('the final one after informational ones', async () => {
    receiver.answer = (socket) => {
      socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n')
      answerWith('201 Created')(socket)
    }
    expect(await post()).toMatchObject({ status: 201 })
  })

  it.each(['connection: upgrade\r\nupgrade: x\r\n', ''])(
    'a switch of protocols, which nobody asked for, as final: %j',
    async (headers) => {
      receiver.answer = (socket) => void socket.write(`HTTP/1.1 101 X\r\n${headers}\r\n`)
      expect(await post()).toEqual({ status: 101, retryAfterSeconds: null, answer: '', error: null })
    },
  )

  it.each<[string, string | Buffer, string]>([
    ['text as UTF-8', 'Grüße', 'Grüße'],
    ['other bytes as replaced', Buffer.from([0x61, 0xff, 0x62, 0xe2, 0x82]), 'a\ufffdb\ufffd'],
    ['only its first KiB', 'x'.repeat(1_100), 'x'.repeat(1_024)],
    ['no half of a character at the end of that KiB', `${'x'.repeat(1_023)}äy`, 'x'.repeat(1_023)],
  ])('of the body %s', async (_what, body, answer) => {
    receiver.answer = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`)
      socket.end(body)
    }
    expect(await post()).toEqual({ status: 200, retryAfterSeconds: null, answer, error: null })
  })

  it('a body that comes in pieces', async () => {
    receiver.answer = async (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n')
      for (const byte of Buffer.from('aäb')) {
        socket.write(Buffer.of(byte))
        await delay(5)
      }
    }
    expect(await post()).toMatchObject({ status: 200, answer: 'aäb' })
  })

  it('only the start of an endless body', async () => {
    let written = 0
    receiver.answer = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const piece = `4000\r\n${'x'.repeat(0x4000)}\r\n`
      const write = (): void => {
        if (socket.destroyed) return
        written += piece.length
        socket.write(piece, write)
      }
      write()
    }
    expect(await post()).toMatchObject({ status: 200, answer: 'x'.repeat(1_024) })
    await receiver.untilQuiet()
    expect(written).toBeLessThan(16 * 2 ** 20)
  })
})

describe('times out', () => {
  it('while headers drip', async () => {
    receiver.answer = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      drip(socket, 'a: b\r\n')
    }
    await expectTimeout()
  })

  it('while a body drips', async () => {
    receiver.answer = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n')
      drip(socket, 'x')
    }
    await expectTimeout()
  })

  it('without an answer', async () => {
    receiver.answer = () => undefined
    await expectTimeout()
  })

  it('without a TLS handshake', () => expectTimeout({ url: `https://hooks.localhost:${plain.port}/` }))

  it('without an answer of the name servers', () =>
    expectTimeout({ resolver: () => new Promise(() => undefined) }))

  it('when the steps together take too long', async () => {
    receiver.answer = (socket) => void setTimeout(() => answerWith('200 OK')(socket), 300)
    const resolver = async () => {
      await delay(300)
      return ['127.0.0.1']
    }
    await expectTimeout({ resolver })
  })
})

describe('is a malformed answer', () => {
  const head = 'HTTP/1.1 200 OK\r\n'
  it.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['status 999', 'HTTP/1.1 999 X\r\ncontent-length: 0\r\n\r\n'],
    ['a broken header', `${head}no colon\r\n\r\n`],
    ['NUL in a header', `${head}a: \0\r\n\r\n`],
    ['two lengths', `${head}content-length: 1\r\ncontent-length: 2\r\n\r\nx`],
    ['a length and chunks', `${head}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a length that is no number', `${head}content-length: -1\r\n\r\n`],
    ['a bad chunk', `${head}transfer-encoding: chunked\r\n\r\nzz\r\n`],
    ['many headers', `${head}${'a: b\r\n'.repeat(5000)}\r\n`],
    ['a header of spaces', `${head}a: ${' '.repeat(40_000)}b\r\n\r\n`],
    ['a long header', `${head}a: ${'b'.repeat(9000)}\r\n\r\n`],
    ['half of the headers', head],
    ['half of a body', `${head}content-length: 10\r\n\r\nhalf`],
    ['endless informational answers', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000)],
    ['nothing', ''],
  ])('%s', async (_what, text) => {
    receiver.answer = (socket) => void socket.end(text)
    expect(await post()).toEqual({ status: null, error: 'malformed_answer', reason: expect.any(String) })
  })

  it.each<[string, (socket: Socket) => void]>([
    ['a close instead', (socket) => socket.destroy()],
    [
      'a reset in the body',
      (socket) => socket.write(`${head}content-length: 9\r\n\r\nx`, () => socket.destroy()),
    ],
  ])('%s, and no further address is tried', async (_what, answer) => {
    receiver.answer = answer
    const resolver = async () => ['127.0.0.1', '127.0.0.1']
    expect(await post({ resolver })).toMatchObject({ error: 'malformed_answer' })
    expect(receiver.connections).toBe(1)
  })

  it('a reset of the connection', async () => {
    plain.answer = (socket) => socket.resetAndDestroy()
    expect(await post({ url: `http://localhost:${plain.port}/` })).toMatchObject({
      error: 'malformed_answer',
    })
    expect(plain.received).toHaveLength(1)
  })
})

describe('is refused', () => {
  it.each([
    ['another name', () => ({ url: `https://other.localhost:${receiver.port}/` })],
    ['another address', () => ({ url: `https://127.0.0.2:${elsewhere.port}/` })],
    ['an unknown authority', () => ({ url: `https://hooks.localhost:${stranger.port}/` })],
  ])('a certificate of %s, even if the environment allows it', async (_what, change) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    expect(await post(change())).toMatchObject({ error: 'tls_failed' })
    expect([receiver, stranger, elsewhere].flatMap(({ received }) => received)).toEqual([])
  })

  it('a connection to another address than the one that was checked', async () => {
    // The system turns the unspecified address into loopback.
    const { signal } = new AbortController()
    await expect(connectToAddress('0.0.0.0', receiver.port, 1_000, signal)).rejects.toThrow(WrongPeer)
  })

  it('a port that nobody listens on', async () => {
    const closed = await startReceiver()
    await closed.close()
    expect(await post({ url: `https://hooks.localhost:${closed.port}/` })).toMatchObject({
      error: 'connect_failed',
    })
  })
})

it('rejects with the reason of the signal', async () => {
  receiver.answer = () => controller.abort(new Error('the server stops'))
  const controller = new AbortController()
  await expect(post({ signal: controller.signal })).rejects.toThrow('the server stops')
  await expect(post({ signal: controller.signal })).rejects.toThrow('the server stops')
  expect(receiver.connections).toBe(1)
})
