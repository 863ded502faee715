/** Parses paths and bodies of requests against the host protocol. */
import { pathParameters, type Route } from '@dock/host-protocol'
import type { Context } from 'hono'
import * as z from 'zod'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'

/** Throws `invalid` with the reason. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new AgentRefusal('invalid', z.prettifyError(parsed.error))
  return parsed.data
}

/** Throws `invalid` if the text is not JSON. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new AgentRefusal('invalid', 'the request is not JSON')
  }
}

/** Reads the body as JSON. Throws `invalid`. */
export async function readBody<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const value: unknown = await context.req.json().catch(() => {
    throw new AgentRefusal('invalid', 'the request body is not JSON')
  })
  return parse(schema, value)
}

/** Returns a function that reads the parameters of the route's path. It throws `invalid`. */
export function targetReader({
  path,
}: Route): (parameter: (name: string) => string | undefined) => Record<string, unknown> {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as keyof typeof pathParameters)
  return (parameter) => {
    const target: Record<string, unknown> = {}
    for (const name of names) target[name] = parse(pathParameters[name], parameter(name))
    return target
  }
}
