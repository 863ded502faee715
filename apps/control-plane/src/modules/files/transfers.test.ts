/** Transfers over real connections: slow, broken, refused and hostile ones, and watches. */
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { encodeNameForUrl, type FileChange, limits } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HostRefused } from '../hosts/index.ts'
import { ProgramGone, sendUpload } from './send-upload.ts'

let server: ControlPlaneWithHost
let port: number
let dockId: string
let folder: string

beforeAll(async () => {
  server = await startControlPlaneWithHost()
  port = (await server.listen()).port
})
afterAll(() => server.stop())
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dock-transfers-'))
  // A Dock of its own, so that no test meets the limits of another.
  dockId = await server.addDock()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const begin = (method: string, path: string, key = server.admin.apiKey, at = port): ClientRequest => {
  const sent = request({
    port: at,
    method,
    path: `/v1/docks/${dockId}/${path}`,
    agent: false,
    headers: { authorization: `Bearer ${key}`, 'transfer-encoding': 'chunked' },
  })
  sent.on('error', () => undefined)
  return sent
}
const upload = (name: string, at = port): ClientRequest =>
  begin('PUT', `files?path=${encodeNameForUrl(join(folder, name))}`, server.admin.apiKey, at)
const answerOf = async (sent: ClientRequest): Promise<{ status: number; code?: string }> => {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const { code } = JSON.parse(await text(response)) as { code?: string }
  return { status: response.statusCode ?? 0, ...(code === undefined ? {} : { code }) }
}
const download = async (path: string): Promise<IncomingMessage> => {
  const sent = begin('GET', `files?path=${encodeNameForUrl(path)}`)
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.on('error', () => undefined)
  return response
}
const processesOf = () => server.host.connections.processes.filter((each) => each.dockId === dockId)
const hasLeft = (index: number): Promise<boolean> =>
  Promise.race([
    processesOf()[index]!.process.exited.then(
      () => true,
      () => true,
    ),
    delay(50).then(() => false),
  ])

describe('an upload', () => {
  it('may take longer than other requests', async () => {
    const requestMs = 600
    const hurried = await server.listen({
      headersMs: 60_000,
      requestMs,
      silenceMs: 60_000,
      refusedMs: 60_000,
      lostMs: 30_000,
    })
    const sent = upload('slow', hurried.port)
    for (let piece = 0; piece < 5; piece++) {
      sent.write('piece ')
      await delay(requestMs / 3)
    }
    sent.end()
    expect(await answerOf(sent)).toEqual({ status: 200 })
    expect(readdirSync(folder)).toEqual(['slow'])
  })

  it('whose connection breaks leaves nothing', async () => {
    const sent = upload('broken')
    sent.write(Buffer.alloc(100_000))
    await expect.poll(() => readdirSync(folder).length).toBe(1)
    sent.destroy()
    await expect.poll(() => readdirSync(folder)).toEqual([])
    await expect.poll(() => hasLeft(0)).toBe(true)
  })

  it('is refused before its end if the Dock refuses it', async () => {
    const sent = upload('absent/file')
    sent.write('x')
    expect(await answerOf(sent)).toEqual({ status: 404, code: 'not_found' })
    sent.destroy()
  })

  it('is limited in number for each Dock, and broken ones count no more', async () => {
    const { openPerDockMax } = limits.files
    const open = Array.from({ length: openPerDockMax }, (_, index) => upload(`half-open ${index}`))
    for (const sent of open) sent.write('x')
    await expect.poll(() => readdirSync(folder).length).toBe(openPerDockMax)
    const refused = await Promise.all(
      Array.from({ length: 1000 - openPerDockMax }, (_, index) => {
        const sent = upload(`refused ${index}`)
        sent.write('x')
        return answerOf(sent).finally(() => sent.destroy())
      }),
    )
    for (const answer of refused) expect(answer).toEqual({ status: 429, code: 'rate_limited' })
    for (const sent of open) sent.destroy()
    await expect.poll(() => readdirSync(folder)).toEqual([])
    const sent = upload('after')
    sent.end('x')
    expect(await answerOf(sent)).toEqual({ status: 200 })
  })

  it('ends, and leaves nothing, when its person loses access', async () => {
    const { organizationId } = (
      await server.database.db
        .selectFrom('docks')
        .select('organization_id as organizationId')
        .where('id', '=', dockId)
        .execute()
    )[0]!
    const member = await addPerson(server, { role: 'member', organizationId })
    const sent = begin('PUT', `files?path=${encodeNameForUrl(join(folder, 'a'))}`, member.apiKey)
    sent.write('x')
    const answer = answerOf(sent)
    await expect.poll(() => readdirSync(folder).length).toBe(1)
    await server.database.db.deleteFrom('memberships').where('user_id', '=', member.userId).execute()
    await expect.poll(() => readdirSync(folder), { timeout: 10_000 }).toEqual([])
    expect(await answer).toEqual({ status: 503, code: 'service_unavailable' })
    sent.destroy()
  })
})

describe('the pace of an upload', () => {
  it('ends a client that sends nothing, or too little', async () => {
    const silent = new ReadableStream<Uint8Array>()
    const pace = { stallMs: 100, bytesPerSecond: 1000 }
    await expect(sendUpload(silent, new PassThrough(), pace)).rejects.toMatchObject({
      code: 'validation_error',
    })
    const trickle = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await delay(20)
        controller.enqueue(Buffer.from('x'))
      },
    })
    await expect(sendUpload(trickle, new PassThrough().resume(), pace)).rejects.toMatchObject({
      code: 'validation_error',
    })
  })

  it('ends if the program takes nothing', async () => {
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(Buffer.alloc(1000)),
    })
    const stdin = new PassThrough({ highWaterMark: 1 })
    const pace = { stallMs: 100, bytesPerSecond: 1000 }
    await expect(sendUpload(endless, stdin, pace)).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(stdin.listenerCount('drain')).toBe(0)
  })

  it('notices a program that closes its input', async () => {
    const stdin = new PassThrough({ highWaterMark: 1 })
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(Buffer.alloc(1000)),
    })
    const sent = sendUpload(endless, stdin)
    stdin.destroy()
    await expect(sent).rejects.toThrow(ProgramGone)
  })
})

describe('a download', () => {
  it('that is left early ends its program', async () => {
    writeFileSync(join(folder, 'large'), Buffer.alloc(20_000_000))
    const response = await download(join(folder, 'large'))
    response.destroy()
    await expect.poll(() => hasLeft(0)).toBe(true)
  })

  it('is cut if the program in the Dock ends early or says too much', async () => {
    const original = server.host.openProcess
    const playing = (script: string) => {
      server.host.openProcess = (dock, wanted) => original(dock, { ...wanted, argv: ['bash', '-c', script] })
    }
    try {
      playing('echo file 10 0 1 420; echo -n short')
      const short = await download('/x')
      expect(short.statusCode).toBe(200)
      await expect(text(short)).rejects.toThrow()
      playing('echo file 3 0 1 420; sleep 0.3; echo -n too long')
      const long = await download('/x')
      await expect(text(long)).rejects.toThrow()
    } finally {
      server.host.openProcess = original
    }
  })
})

describe('a hostile program in the Dock', () => {
  const codeFor = async (
    script: string,
    method: string,
    path: string,
  ): Promise<{ status: number; code?: string }> => {
    const original = server.host.openProcess
    server.host.openProcess = (dock, wanted) => original(dock, { ...wanted, argv: ['bash', '-c', script] })
    try {
      const sent = begin(method, path)
      sent.end()
      return await answerOf(sent)
    } finally {
      server.host.openProcess = original
    }
  }
  const broken = { status: 409, code: 'exec_unavailable' }

  it.each([
    'true',
    'exit 3',
    'echo',
    'echo file -1 0 1',
    'echo file 1e99 0 1',
    'echo file x y z',
    'echo tar',
    'head -c 1000000 /dev/zero',
    'yes | tr -d "\\n" | head -c 100000',
  ])('cannot read a file by %j', async (script) => {
    const { status } = await codeFor(script, 'GET', 'files?path=/x')
    expect([409, 503]).toContain(status)
  })

  it.each([
    'yes entry file 1 0644 0 61 -',
    'echo entry file 1 0644 0 zz -; echo end 0 -',
    'echo entry alien 1 0644 0 61 -',
    'echo entry file -1 0644 0 61 -',
    'echo entry file 1 0644 0 61 -; echo entry link 1 0777 0 61; echo end 0 -',
    'echo entry folder 1 0755 0 61 -',
  ])('cannot list a folder by %j', async (script) => {
    expect(await codeFor(script, 'GET', 'files/list?path=/x')).toEqual(broken)
  })

  it('is not quoted, and its times and cursors are valid', async () => {
    const script =
      'echo entry folder 1 0755 99999999999999 61 -; echo entry file 1 0644 -5 61 -; echo end 1 nonsense'
    expect(await codeFor(script, 'GET', 'files/list?path=/x')).toEqual({ status: 200 })
    expect(await codeFor('echo error 99999 x', 'GET', 'files/list?path=/x')).toEqual({
      status: 409,
      code: 'conflict',
    })
    expect(await codeFor('echo error 27 content', 'PUT', 'files?path=/x')).toEqual({
      status: 413,
      code: 'file_too_large',
    })
    expect(await codeFor('echo error __proto__ x', 'GET', 'files/list?path=/x')).toEqual({
      status: 409,
      code: 'conflict',
    })
  })
})

describe('the host', () => {
  it.each([
    ['unsupported', 409, 'exec_unavailable'],
    ['exec_refused', 409, 'exec_unavailable'],
    ['frozen', 503, 'exec_busy'],
    ['busy', 429, 'rate_limited'],
    ['not_running', 409, 'dock_not_running'],
    ['failed', 503, 'service_unavailable'],
  ] as const)('that refuses with %s is %i %s', async (refusal, status, code) => {
    const original = server.host.openProcess
    server.host.openProcess = async () => {
      throw new HostRefused(refusal, 'as the test asked')
    }
    try {
      for (const path of ['files?path=/x', 'files/list?path=/x', 'files/watch?path=/x']) {
        const sent = begin('GET', path)
        sent.end()
        expect(await answerOf(sent)).toEqual({ status, code })
      }
    } finally {
      server.host.openProcess = original
    }
  })

  it('is not asked for a Dock that is stopped or unknown', async () => {
    await server.call('POST', `/v1/docks/${dockId}/stop`, {})
    const ask = () => {
      const sent = begin('GET', 'files?path=/x')
      sent.end()
      return answerOf(sent)
    }
    expect(await ask()).toEqual({ status: 409, code: 'dock_not_running' })
    dockId = newUuid()
    expect(await ask()).toEqual({ status: 404, code: 'dock_not_found' })
  })
})

describe('a watch', () => {
  const watch = async (path: string, more = '') => {
    const sent = begin('GET', `files/watch?path=${encodeNameForUrl(path)}${more}`)
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.on('error', () => undefined)
    let seen = ''
    response.setEncoding('utf8').on('data', (piece: string) => {
      seen += piece
    })
    const changes = () =>
      seen
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as FileChange)
    await expect.poll(() => changes().length).toBeGreaterThan(0)
    return { response, changes, end: () => sent.destroy() }
  }

  it('reports what happens in a folder, and ends with it', async () => {
    const watched = join(folder, 'watched')
    mkdirSync(watched)
    const { response, changes } = await watch(watched)
    expect(response.headers['content-type']).toBe('application/x-ndjson')
    expect(changes()).toEqual([{ type: 'watching', folders: 1 }])
    const [a, b] = [join(watched, 'a\n\u00e9'), join(watched, 'b')]
    writeFileSync(a, 'x')
    await expect.poll(() => changes().length).toBeGreaterThan(2)
    renameSync(a, b)
    mkdirSync(join(watched, 'sub'))
    rmSync(b)
    await expect.poll(() => changes().at(-1)?.type).toBe('deleted')
    const isFolder = false
    expect(changes().slice(1)).toEqual([
      { type: 'created', path: a, isFolder },
      { type: 'modified', path: a, isFolder },
      { type: 'moved', path: a, to: b, isFolder },
      { type: 'created', path: join(watched, 'sub'), isFolder: true },
      { type: 'deleted', path: b, isFolder },
    ])
    const isOver = once(response, 'end')
    rmSync(watched, { recursive: true })
    await isOver
    expect(changes().at(-1)).toEqual({ type: 'ended', reason: 'gone' })
  })

  it('follows new and moved folders if it is recursive', async () => {
    mkdirSync(join(folder, 'old'))
    const { changes, end } = await watch(folder, '&recursive=true')
    expect(changes()).toEqual([{ type: 'watching', folders: 2 }])
    const has = (type: string, path: string) =>
      expect
        .poll(() =>
          changes().some((change) => change.type === type && 'path' in change && change.path === path),
        )
        .toBe(true)
    mkdirSync(join(folder, 'new/deep'), { recursive: true })
    await has('created', join(folder, 'new/deep'))
    writeFileSync(join(folder, 'new/deep/file'), 'x')
    await has('created', join(folder, 'new/deep/file'))
    renameSync(join(folder, 'new'), join(folder, 'old/new'))
    await has('moved', join(folder, 'new'))
    writeFileSync(join(folder, 'old/new/deep/file'), 'xy')
    await has('modified', join(folder, 'old/new/deep/file'))
    end()
    await expect.poll(() => hasLeft(0)).toBe(true)
  })

  it('is limited in number for each Dock', async () => {
    const open = []
    for (let count = 0; count < limits.files.watchesPerDockMax; count++) open.push(await watch(folder))
    const sent = begin('GET', `files/watch?path=${folder}`)
    sent.end()
    expect(await answerOf(sent)).toEqual({ status: 429, code: 'rate_limited' })
    for (const each of open) each.end()
    await expect
      .poll(async () => {
        const again = begin('GET', 'files/watch?path=/absent')
        again.end()
        return (await answerOf(again)).status
      })
      .toBe(404)
  })
})
