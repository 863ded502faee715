/** A row of the table of calls (routes.ts), and the types that follow from it for both ends. */
import type { Duplex, Readable } from 'node:stream'
import * as z from 'zod'
import type { LinkChannel } from './dial-link.ts'
import { keptStream } from './kept-process-messages.ts'
import type { IncomingConnection } from './serve-connection.ts'

const uuid = z.uuid().lowercase()

/** The parameters of paths. Ids are in lower case only, because disks and files are named after them. */
export const pathParameters = {
  dockId: uuid,
  captureId: uuid,
  processId: uuid,
  connectionId: uuid,
  image: z.string().regex(/^[a-z0-9][a-z0-9.-]{0,63}$/),
  port: z.coerce.number().int().min(1).max(65_535),
  stream: keptStream,
}

export type Route = {
  /**
   * - `json`: the answer is one JSON value.
   * - `lines`: the answer is a list of JSON values, one a line, ended by a last line.
   * - `bytes`: the answer is a stream of bytes, described by headers.
   * - `upload`: the body, if any, is a line of JSON, and a stream of bytes follows. The answer is one JSON value.
   * - `connection`: the body, if any, is the first message. Then bytes flow in both directions.
   * - `events`: the answer is a stream of events, one a line, for as long as the link lasts.
   */
  kind: 'json' | 'lines' | 'bytes' | 'upload' | 'connection' | 'events'
  method: 'GET' | 'POST' | 'CONNECT'
  /** `:name` stands for a parameter of {@link pathParameters}. */
  path: `/${string}`
  query: z.ZodType | null
  body: z.ZodType | null
  /** The answer, or one item of it. Null: the call returns nothing, and the answer is `{}`. */
  answer: z.ZodType | null
  /** Headers of an answer of bytes, each a number, by the name that it has in the code. */
  headers: Readonly<Record<string, string>>
  channel: LinkChannel
  /**
   * Time for the whole call, or for the begin of a connection. A function gets the query, or else the body. Null: as long as
   * the link lasts.
   */
  timeoutMs: number | null | ((given: never) => number)
  /** True if the call changes what a host keeps: it waits until the first inventory over a link was handled. */
  isOrder: boolean
  /** True if the client adds the epoch of the instance to the body. A host refuses an order of an earlier epoch. */
  carriesEpoch: boolean
  /** True if the agent may dial back, so that the bytes of the connection bypass the link. A function gets the body. */
  dialsBack: boolean | ((body: never) => boolean)
}

type ParameterOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** The parameters of a call's path: what the call is about. */
export type TargetOf<R extends Route> = {
  [Name in ParameterOf<R['path']> & keyof typeof pathParameters]: z.output<(typeof pathParameters)[Name]>
}

type QueryOf<R extends Route> = R['query'] extends z.ZodType ? [query: z.output<R['query']>] : []
type HeadersOf<R extends Route> = { [Name in keyof R['headers']]: number }
// biome-ignore lint/suspicious/noConfusingVoidType: a call that returns nothing resolves to void.
type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : void

export type CallOptions = {
  /** Its abort cancels the call at the agent. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

/** A call, as the control plane makes it. */
export type HostCall<R extends Route> = (
  ...sent: [
    target: { hostId: string } & TargetOf<R>,
    ...QueryOf<R>,
    ...(R['body'] extends z.ZodType ? [body: z.output<R['body']>] : []),
    ...(R['kind'] extends 'upload' ? [bytes: AsyncIterable<Uint8Array>] : []),
    ...(R['kind'] extends 'connection' ? [] : [options?: CallOptions]),
  ]
) => R['kind'] extends 'lines'
  ? AsyncIterable<OutputOf<R['answer']>[]>
  : R['kind'] extends 'bytes'
    ? Promise<HeadersOf<R> & { body: Readable }>
    : R['kind'] extends 'connection'
      ? Promise<Duplex>
      : Promise<OutputOf<R['answer']>>

type GivenAnswer<R extends Route> = R['answer'] extends z.ZodType ? z.output<R['answer']> : unknown
type Handled<R extends Route> = R['kind'] extends 'lines'
  ? AsyncIterable<readonly GivenAnswer<R>[]>
  : R['kind'] extends 'bytes'
    ? HeadersOf<R> & { body: ReadableStream<Uint8Array> }
    : R['kind'] extends 'events'
      ? ReadableStream<Uint8Array>
      : GivenAnswer<R>

/** Who made a call. `signal` aborts if the caller leaves before the call is answered. */
export type Caller = { signal: AbortSignal }
/** A connection that the handler accepts by one of these functions. `gone` aborts when the caller leaves. */
export type Offered = Pick<IncomingConnection, 'gone' | 'accept' | 'beginDialBack' | 'acceptByDialBack'>

/** The agent's handler of a call. It gets what arrived, checked. It throws to refuse the call. */
export type Handler<R extends Route> = (
  ...arrived: [
    target: TargetOf<R>,
    ...QueryOf<R>,
    ...(R['body'] extends z.ZodType ? [body: z.output<R['body']>] : []),
    ...(R['kind'] extends 'upload'
      ? [bytes: R['body'] extends z.ZodType ? AsyncIterable<Uint8Array> : Readable]
      : []),
    from: R['kind'] extends 'connection' ? Offered : Caller,
  ]
) => Handled<R> | Promise<Handled<R>>
