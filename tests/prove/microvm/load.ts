/** What people do in a Dock while its host's programs are killed. Everything that is answered must be right. */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { DockApiError } from '@dock/sdk'
import type { CrashWorld } from '../../crash/crash-case.ts'
import { openScreen } from '../../e2e/support/terminal.ts'
import { eventually } from './kept-lines.ts'

const work = '/home/user/work'
const pauseMs = 100
const uploadBytes = 2 ** 20
const servedBytes = 2 ** 20

/** How often each kind of call had each outcome: `ok`, the code of an error, or how a connection ended. */
export type Outcomes = Map<string, number>

export type Load = {
  outcomes: Outcomes
  /** Ends all of it, looks once more, and returns what was wrong. */
  finish(): Promise<string[]>
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const codeOf = (error: unknown): string => (error instanceof DockApiError ? error.code : 'no response')

const fetchPort = async (url: string, path: string): Promise<{ status: number; digest: string }> => {
  const { port, host } = new URL(url)
  const outgoing = request({ host: '127.0.0.1', port, path, headers: { host }, agent: false })
  outgoing.end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, digest: digestOf(Buffer.concat(await response.toArray())) }
}

/** Begins to run commands, upload, download, type into terminals and ask a server in the Dock. */
export async function startLoad(world: CrashWorld, id: string): Promise<Load> {
  const { client } = world
  const params = { id }
  const outcomes: Outcomes = new Map()
  const problems: string[] = []
  let isOver = false
  const count = (kind: string, outcome: string): void => {
    const key = `${kind}: ${outcome}`
    outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
  }
  const exec = (command: string, key?: string) =>
    client.call('execInDock', {
      ...{ params, body: { command, timeoutSeconds: 300 } },
      ...(key ? { headers: { 'idempotency-key': key } } : {}),
    })
  const wrong = (sentence: string): void => {
    problems.push(`Dock ${id.slice(0, 8)}: ${sentence}`)
  }

  const { stdout } = await eventually('the server', () =>
    exec(`cd ${work} && mkdir served && head -c ${servedBytes} /dev/urandom >served/file && sha256sum <served/file
      (cd served && setsid python3 -m http.server 8000 >/dev/null 2>&1 &)
      until (exec 3<>/dev/tcp/127.0.0.1/8000) 2>/dev/null; do sleep 0.1; done`),
  )
  const served = stdout.split(' ')[0]!
  const { url } = await client.call('exposePort', { params, body: { port: 8000 } })

  const marks = new Map<string, boolean>()
  let number = 0
  const commands = async (): Promise<void> => {
    const mark = `${id}-${++number}`
    marks.set(mark, false)
    try {
      const { exitCode, stdout, stderr } = await exec(
        `echo ${mark} >>${work}/marks; sleep 0.3; echo out-${mark}; echo err-${mark} >&2; exit 5`,
        mark,
      )
      marks.set(mark, true)
      count('exec', 'ok')
      if (exitCode !== 5 || stdout !== `out-${mark}\n` || stderr !== `err-${mark}\n`)
        wrong(`a command returned ${exitCode} '${stdout}' '${stderr}'`)
    } catch (error) {
      count('exec', codeOf(error))
    }
  }

  let uploaded = new Set<string>()
  let isUploaded = false
  const uploads = async (): Promise<void> => {
    const body = randomBytes(uploadBytes)
    const digest = digestOf(body)
    try {
      await client.call('writeDockFile', { params, query: { path: `${work}/uploaded` }, body })
      count('upload', 'ok')
      uploaded = new Set([digest])
      isUploaded = true
    } catch (error) {
      count('upload', codeOf(error))
      uploaded.add(digest)
    }
  }
  const checkUploaded = async (): Promise<void> => {
    const { exitCode, stdout } = await exec(`sha256sum <${work}/uploaded`)
    // Before the first upload there may be no file.
    if (exitCode !== 0 && !isUploaded) return
    if (!uploaded.has(stdout.split(' ')[0]!)) wrong('an uploaded file is neither the old one nor the new one')
  }

  const downloads = async (): Promise<void> => {
    try {
      const bytes = await client.call('readDockFile', { params, query: { path: `${work}/served/file` } })
      count('download', 'ok')
      if (digestOf(bytes) !== served) wrong('a complete download has other bytes')
    } catch (error) {
      count('download', codeOf(error))
    }
  }

  const ports = async (): Promise<void> => {
    try {
      const { status, digest } = await fetchPort(url ?? '', '/file')
      count('port', String(status))
      if (status === 200 && digest !== served) wrong('a complete response of a port has other bytes')
    } catch {
      count('port', 'no response')
    }
  }

  const terminals = async (): Promise<void> => {
    try {
      const screen = await openScreen(world, id)
      let turn = 0
      const typing = (async () => {
        while (!isOver) {
          const wanted = String(++turn * 1_000_003)
          screen.type(`clear; echo $((${turn} * 1000003))\n`)
          await screen.until((lines) => lines.includes(wanted), wanted)
          await delay(pauseMs)
        }
        screen.type('exit 9\n')
      })()
      let isClosed = false
      const closed = screen.closed
        .then(({ code, exitCode }) => `${code}, exit code ${exitCode}`)
        .finally(() => {
          isClosed = true
        })
      // A screen whose connection broke never shows what is waited for.
      const shown = typing.catch((error: Error) => {
        if (!isClosed) wrong(error.message.trim().slice(0, 300))
      })
      await Promise.race([closed, shown])
      count('terminal', await closed)
    } catch (error) {
      count('terminal', codeOf(error))
    }
  }

  const repeat = async (act: () => Promise<void>): Promise<void> => {
    while (!isOver) {
      await act()
      await delay(pauseMs)
    }
  }
  const uploading = async (): Promise<void> => {
    await uploads()
    await checkUploaded().catch(() => undefined)
  }
  const running = [commands, commands, uploading, downloads, ports, terminals].map((act) =>
    repeat(act).catch((error: Error) => wrong(error.message)),
  )
  return {
    outcomes,
    finish: async () => {
      isOver = true
      await Promise.all(running)
      const lines = (await eventually('the marks', () => exec(`cat ${work}/marks`))).stdout.split('\n')
      for (const [mark, isAnswered] of marks) {
        const times = lines.filter((line) => line === mark).length
        if (times > 1 || (isAnswered && times !== 1)) wrong(`the command ${mark} ran ${times} times`)
      }
      await eventually('the upload', checkUploaded)
      const left = await eventually('the rest', () =>
        exec(
          `cd ${work} && ls -A | grep -v -e '^marks$' -e '^served$' -e '^uploaded$'; pgrep -fa '[s]leep 0[.]3'; true`,
        ),
      )
      if (left.stdout !== '') wrong(`left over: ${left.stdout}`)
      const last = await eventually('the port', async () => {
        const found = await fetchPort(url ?? '', '/file')
        if (found.status !== 200) throw new Error(`it responds with ${found.status}`)
        return found
      })
      if (last.digest !== served) wrong('the port serves other bytes')
      return problems
    },
  }
}
