/** Runs broken-connections.mjs in a runtime of JavaScript against a real Dock, through a proxy that breaks connections. */
import { join } from 'node:path'
import { Dock } from '@dock/sdk'
import { buildForClients } from './built-sdk.ts'
import { startCuttingProxy } from './cutting-proxy.ts'
import { runProgram } from './program.ts'

const main = new URL('broken-connections.mjs', import.meta.url).pathname

/** What comes out if nothing was lost and nothing came twice. */
export const nothingLost = { oneOutput: null, bothOutputs: [null, null], input: 0, received: true }

const cutsAfterBytes = [30_000, 60_000, 9000, 20_000, 150_000]

const isComplete = (received: string): boolean =>
  ['first', 'second'].every((name) => {
    const lines = received.split('\n').filter((line) => line.startsWith(`${name} `))
    return lines.length === 5000 && lines.every((line, at) => line === `${name} ${at}`)
  })

/** Returns what was wrong, and how many connections were broken. `home` is a folder for the program's files. */
export async function runThroughCuts(
  { baseUrl, apiKey, home }: { baseUrl: string; apiKey: string; home: string },
  [file, ...args]: readonly [string, ...string[]],
): Promise<{ result: object; cuts: number }> {
  const sizes = { cpus: 1, memoryMiB: 1024, diskGiB: 2 }
  const dock = await Dock.create({ baseUrl, apiKey, ...sizes })
  const proxy = await startCuttingProxy(baseUrl, cutsAfterBytes)
  try {
    const { sdk } = await buildForClients(join(home, 'sdk'))
    const place = {
      ...{ baseUrl: proxy.baseUrl, apiKey, home },
      ...{ name: '', scenario: '', upload: '', download: '' },
    }
    const more = { DOCK_SDK: sdk, DOCK_ID: dock.id }
    const printed = await runProgram(place, file, [...args, main], more)
    const received = isComplete(await dock.files.readText('received'))
    return { result: { ...(printed as object), received }, cuts: proxy.cuts() }
  } finally {
    await proxy.close()
    await dock.delete()
  }
}
