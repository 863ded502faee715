/** Sends standard input to a process in a Dock. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, hasCode } from '@dock/sdk'
import { readAhead } from './read-ahead.ts'

type Place = { id: string; pid: string }

const passing = ['connection_failed', 'service_unavailable', 'bad_gateway', 'exec_busy', 'internal_error']
const attemptsMax = 20

/** Sends one piece. After a broken connection, asks how much has arrived and sends the rest. */
const sendPiece = async (
  client: Client,
  params: Place,
  piece: Buffer,
  start: number,
  signal: AbortSignal,
) => {
  let at = start
  for (let attempt = 1; at < start + piece.length; attempt++) {
    try {
      const body = new Uint8Array(piece.subarray(at - start))
      at = (await client.call('writeDockProcessInput', { params, query: { offset: at }, body, signal }))
        .offset
    } catch (error) {
      if (signal.aborted || attempt >= attemptsMax || !hasCode(error, ...passing)) throw error
      await sleep(Math.min(2000, 100 * attempt))
      at = (await client.call('readDockProcess', { params, signal })).stdin.offset
    }
  }
  return at
}

/** Sends everything until the end of standard input. A program that wants no more of it is no failure. */
export async function sendInput(client: Client, params: Place, signal: AbortSignal): Promise<void> {
  try {
    let at = 0
    for await (const piece of readAhead(process.stdin))
      at = await sendPiece(client, params, piece, at, signal)
    await client.call('closeDockProcessInput', { params, signal })
  } catch (error) {
    if (!signal.aborted && !hasCode(error, 'conflict', 'not_found')) throw error
  }
}
