/** The types of `client.call`, derived from the generated types of the routes. */
import type { RouteTypes } from './generated/route-types.ts'

export type RouteName = keyof RouteTypes

export type CallOptions<N extends RouteName> = RouteTypes[N]['request']

/** The `data` of the response; bytes for a route of bytes. */
export type CallResult<N extends RouteName> = RouteTypes[N]['response']

/** The options may be omitted if the route needs none. */
export type CallArguments<N extends RouteName> =
  Record<never, never> extends CallOptions<N> ? [options?: CallOptions<N>] : [options: CallOptions<N>]

/** What the body of a route takes. */
export type BodyOf<N extends RouteName> = NonNullable<CallOptions<N>['body']>
