/** A kept process of a real Dock, while the host agent and the control plane are killed in the middle of its output. */
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDock } from '../support/dock.ts'
import { freePort, newDataDir, removeDataDir, type Server, startServer } from '../support/server.ts'

/** Of each part of the output, after which the process pauses. */
const partLines = 100
const programs = ['apps/host-agent/src/main.ts', 'apps/control-plane/src/main.ts']
const kills = 6

let dataDir: string
let server: Server

beforeAll(async () => {
  dataDir = await newDataDir()
  server = await startServer(dataDir, await freePort())
})
afterAll(async () => {
  await server?.interrupt()
  await removeDataDir(dataDir)
})

/** Kills the node process of this server that runs the program. Its environment names the data folder. */
const kill = async (program: string): Promise<boolean> => {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const read = (name: string) => readFile(`/proc/${entry}/${name}`, 'utf8').catch(() => '')
    const line = await read('cmdline')
    if (!line.includes('node') || !line.includes(program)) continue
    if (!(await read('environ')).includes(`=${dataDir}`)) continue
    process.kill(Number(entry), 'SIGKILL')
    return true
  }
  return false
}

const eventually = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
  for (const deadline = Date.now() + 60_000; ; await delay(200)) {
    try {
      return await ask()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}

it('delivers every byte once, and the exit code', async () => {
  const params = { id: (await createDock(server)).id }
  const command = `for ((i = 1; ; i++)); do
    echo "line $i"
    ((i % ${partLines})) || { [ -e /tmp/enough ] && break; sleep 0.05; }
  done
  echo end; exit 7`
  const { id: pid } = await server.client.call('startDockProcess', { params, body: { command } })
  const { baseUrl, apiKey } = server.admin
  let seen = Buffer.alloc(0)
  /** Reads on from where the last reader was cut off. Returns true at the end of the output. */
  const readOn = async (): Promise<boolean> => {
    try {
      const url = `${baseUrl}/v1/docks/${params.id}/processes/${pid}/output?follow=true&offset=${seen.length}`
      const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } })
      if (!response.ok || !response.body) return false
      expect(response.headers.get('x-dock-start-offset')).toBe(String(seen.length))
      for await (const chunk of response.body) seen = Buffer.concat([seen, chunk])
      return true
    } catch (error) {
      if (error instanceof TypeError || (error instanceof Error && error.name === 'AbortError')) return false
      throw error
    }
  }
  const reading = (async () => {
    while (!(await readOn())) await delay(200)
  })()
  let killed = 0
  for (let round = 0; round < kills; round += 1) {
    const before = seen.length
    // Both programs run again, and the output continues, before the next one is killed.
    await expect.poll(() => seen.length, { timeout: 60_000 }).toBeGreaterThan(before)
    if (await kill(programs[round % programs.length]!)) killed += 1
  }
  expect(killed).toBeGreaterThanOrEqual(kills - 1)
  await eventually(() => server.client.call('execInDock', { params, body: { command: 'touch /tmp/enough' } }))
  await reading
  const lines = seen.toString().split('\n').length - 2
  expect(lines).toBeGreaterThanOrEqual(partLines)
  let expected = ''
  for (let line = 1; line <= lines; line += 1) expected += `line ${line}\n`
  expected += 'end\n'
  expect(seen.length).toBe(expected.length)
  expect(seen.toString() === expected).toBe(true)
  const place = { params: { ...params, pid }, query: { timeoutSeconds: 30 } }
  const ended = await eventually(() => server.client.call('waitForDockProcess', place))
  expect(ended).toMatchObject({ state: 'ended', exitCode: 7, reason: 'exited' })
})
