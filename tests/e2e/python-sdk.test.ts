/** The Python SDK with a real Dock, through connections that break. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Dock } from '@dock/sdk'
import { expect, it, onTestFinished } from 'vitest'
import { startCuttingProxy } from '../clients/cutting-proxy.ts'
import { runProgram } from '../clients/program.ts'
import { useServer } from './support/use-server.ts'

const { admin } = useServer()
const program = 'tests/clients/python-broken-connections.py'
const cutsAfterBytes = [30_000, 60_000, 9000, 20_000, 150_000]

it.each(['threads', 'asyncio'])('loses no byte and repeats none when connections break: %s', async (half) => {
  const home = await mkdtemp(join(tmpdir(), 'dock-python-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const { baseUrl, apiKey } = admin
  const dock = await Dock.create({ baseUrl, apiKey, cpus: 1, memoryMiB: 1024, diskGiB: 2 })
  const proxy = await startCuttingProxy(baseUrl, cutsAfterBytes)
  onTestFinished(async () => {
    await proxy.close()
    await dock.delete()
  })
  const place = { ...admin, home, name: '', scenario: '', upload: '', download: '', baseUrl: proxy.baseUrl }
  const result = await runProgram(place, '/usr/bin/python3', [program, half], { DOCK_ID: dock.id })
  expect(result).toEqual({ oneOutput: null, bothOutputs: [null, null], input: 0 })
  expect(proxy.cuts()).toBeGreaterThan(5)
  // Each line of both writers came once and whole, in its order.
  const lines = (await dock.files.readText('received')).trimEnd().split('\n')
  for (const name of ['first', 'second'])
    expect(lines.filter((line) => line.startsWith(`${name} `))).toEqual(
      Array.from({ length: 5_000 }, (_, at) => `${name} ${at}`),
    )
  expect(lines).toHaveLength(10_000)
})
