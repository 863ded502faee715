/** Reads the output of a kept process while programs of the server are killed. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Server } from './server.ts'

const retryMs = 200
/** Longer than any recovery. */
const silenceMsMax = 120_000

/**
 * Calls `onBytes` with the whole output, going on where a response was cut off. Resolves at its end. Throws if the server
 * gives another offset, or nothing for two minutes.
 */
export async function followOutput(
  { admin }: Pick<Server, 'admin'>,
  place: { id: string; pid: string; stream?: 'stdout' | 'stderr' },
  onBytes: (bytes: Uint8Array) => void,
): Promise<void> {
  const { id, pid, stream = 'stdout' } = place
  let offset = 0
  let heardAt = Date.now()
  /** Returns true at the end of the output. */
  const readOn = async (): Promise<boolean> => {
    try {
      const url = `${admin.baseUrl}/v1/docks/${id}/processes/${pid}/output?follow=true&stream=${stream}&offset=${offset}`
      const response = await fetch(url, { headers: { authorization: `Bearer ${admin.apiKey}` } })
      if (!response.ok || !response.body) return false
      const start = response.headers.get('x-dock-start-offset')
      if (start !== String(offset)) throw new Error(`${stream} begins at ${start} instead of ${offset}`)
      for await (const chunk of response.body) {
        offset += chunk.length
        heardAt = Date.now()
        onBytes(chunk)
      }
      return true
    } catch (error) {
      if (error instanceof TypeError || (error instanceof Error && error.name === 'AbortError')) return false
      throw error
    }
  }
  while (!(await readOn())) {
    if (Date.now() - heardAt > silenceMsMax) throw new Error(`${stream} is silent after ${offset} bytes`)
    await delay(retryMs)
  }
}
