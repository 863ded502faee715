/** GET /v1/docks/:id/processes/:pid/output */
import type { Readable } from 'node:stream'
import type { RouteQuery, routes } from '@dock/contract'
import { bodyOf } from '@dock/foundation'
import type { Visitor } from '../accounts/index.ts'
import type { KeptPlace } from '../hosts/index.ts'
import { endWithAccess } from './end-with-access.ts'
import { type NamedOutput, outputLines } from './output-lines.ts'
import type { ProcessContext } from './process-context.ts'
import { callHost } from './require-process.ts'
import { whenAllClosed } from './when-all-closed.ts'

type OutputQuery = RouteQuery<(typeof routes)['readDockProcessOutput']>

export type OutputResponse = {
  body: ReadableStream<Uint8Array>
  contentType: string
  headers: Record<string, string>
}

const endAll = (bodies: readonly Readable[]): void => {
  for (const body of bodies) body.destroy()
}

/** Opens the output. The response ends at the end of the output, or breaks if the caller loses access to the Dock. */
export async function readProcessOutput(
  context: ProcessContext,
  caller: Visitor,
  params: { id: string; pid: string },
  query: OutputQuery,
): Promise<OutputResponse> {
  const close = context.streams.add(caller.userId)
  const bodies: Readable[] = []
  try {
    const opened = await callHost(context, caller, params, async (place) => {
      const outputs = await openOutputs(context, place, query, bodies)
      await endWithAccess(context, caller, params.id, bodies)
      return outputs
    })
    whenAllClosed(bodies, close)
    const [first] = opened
    if (query.stream === 'both' || !first) {
      return {
        body: bodyOf(outputLines(opened), () => endAll(bodies)),
        contentType: 'application/x-ndjson',
        headers: {},
      }
    }
    return {
      body: bodyOf(first.body),
      contentType: 'application/octet-stream',
      headers: { 'x-dock-first-offset': String(first.first), 'x-dock-start-offset': String(first.start) },
    }
  } catch (error) {
    close()
    endAll(bodies)
    throw error
  }
}

const openOutputs = async (
  { hosts }: ProcessContext,
  place: KeptPlace,
  { stream, offset, stderrOffset, follow }: OutputQuery,
  bodies: Readable[],
): Promise<NamedOutput[]> => {
  const open = async (name: 'stdout' | 'stderr', from: number): Promise<NamedOutput> => {
    const opened = await hosts.openKeptOutput({ ...place, stream: name }, { offset: from, follow })
    bodies.push(opened.body)
    return { name, ...opened }
  }
  if (stream !== 'both') return [await open(stream, offset)]
  // A process with a terminal has no stderr of its own.
  const { stderr } = await hosts.readKept(place)
  const stdout = await open('stdout', offset)
  return stderr ? [stdout, await open('stderr', stderrOffset)] : [stdout]
}
