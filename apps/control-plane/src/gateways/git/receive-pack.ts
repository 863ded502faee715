/**
 * Reads the head of a push (gitprotocol-pack(5)): the pkt-lines before the pack, which list the refs to change. The bytes
 * are put back, so that exactly what was checked is forwarded.
 */
import type { IncomingMessage } from 'node:http'
import type { RefUpdate } from '../../modules/connectors/index.ts'
import { DoorRefusal } from './door-refusal.ts'

const headBytesMax = 1024 * 1024
const update = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) ([^\0\n ]+)$/

export type PushHead = { updates: RefUpdate[]; capabilities: ReadonlySet<string> }

const unreadable = (): DoorRefusal => new DoorRefusal(400, 'This push is malformed.')

/** Returns undefined if `bytes` does not yet contain the flush packet that ends the head. */
const parseHead = (bytes: Buffer): PushHead | undefined => {
  const updates: RefUpdate[] = []
  let capabilities = new Set<string>()
  for (let at = 0; at + 4 <= bytes.length; ) {
    const size = bytes.toString('latin1', at, at + 4)
    if (!/^[0-9a-f]{4}$/i.test(size)) throw unreadable()
    const length = Number.parseInt(size, 16)
    if (length === 0) return { updates, capabilities }
    if (length < 5) throw unreadable()
    if (at + length > bytes.length) return undefined
    const [line = '', said] = bytes.toString('utf8', at + 4, at + length).split('\0', 2)
    at += length
    if (said !== undefined) capabilities = new Set(said.trim().split(' '))
    const text = line.replace(/\n$/, '')
    if (/^shallow [0-9a-f]+$/.test(text)) continue
    if (text === 'push-cert')
      throw new DoorRefusal(
        403,
        'Signed pushes are not supported, because this Dock may push only to certain branches.',
      )
    const [, , after, ref] = update.exec(text) ?? []
    if (after === undefined || ref === undefined) throw unreadable()
    updates.push({ ref, isDelete: /^0+$/.test(after) })
  }
  return undefined
}

/** Reads the head of a push and puts its bytes back into the request. */
export function readPushHead(request: IncomingMessage): Promise<PushHead> {
  return new Promise((resolve, reject) => {
    let held = Buffer.alloc(0)
    const end = (settle: () => void): void => {
      request.off('data', take).off('end', broken).off('close', broken)
      request.pause()
      settle()
    }
    const broken = (): void => end(() => reject(unreadable()))
    const take = (chunk: Buffer): void => {
      held = Buffer.concat([held, chunk])
      try {
        const head = parseHead(held)
        if (head)
          end(() => {
            request.unshift(held)
            resolve(head)
          })
        else if (held.length > headBytesMax) throw unreadable()
      } catch (error) {
        end(() => reject(error))
      }
    }
    request.on('data', take).once('end', broken).once('close', broken)
  })
}

const packet = (text: string): string =>
  `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`

/**
 * Returns git's report that the whole push is rejected, with a reason for each ref. git prints
 * `! [remote rejected] main -> main` and the reason. Empty if the client did not request a report.
 */
export function formatRejectionReport(
  { updates, capabilities }: PushHead,
  reasonFor: (ref: RefUpdate) => string | null,
): Buffer {
  if (!capabilities.has('report-status') && !capabilities.has('report-status-v2')) return Buffer.alloc(0)
  const lines = updates.map((each) =>
    packet(`ng ${each.ref} ${reasonFor(each) ?? 'refused because another ref of this push is refused'}\n`),
  )
  const report = `${packet('unpack ok\n')}${lines.join('')}0000`
  if (!capabilities.has('side-band-64k')) return Buffer.from(report)
  const pieces: Buffer[] = []
  const bytes = Buffer.from(report)
  for (let at = 0; at < bytes.length; at += 60_000) {
    const piece = bytes.subarray(at, at + 60_000)
    pieces.push(Buffer.from(`${(piece.length + 5).toString(16).padStart(4, '0')}\u0001`, 'latin1'), piece)
  }
  return Buffer.concat([...pieces, Buffer.from('0000')])
}
