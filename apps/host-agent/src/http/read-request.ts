/** Parses paths and bodies of requests against the host protocol. */
import type { Context } from 'hono'
import * as z from 'zod'
import { AgentRefusal } from '../docks/agent-refusal.ts'

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

export async function readBody<Schema extends z.ZodType>(context: Context, schema: Schema) {
  const value: unknown = await context.req.json().catch(() => {
    throw new AgentRefusal('invalid', 'the request body is not JSON')
  })
  return parse(schema, value)
}

/** Accepts lower case only, because files and disks are named after the id. */
export function parseUuid(text: unknown): string {
  return parse(z.uuid().lowercase(), text)
}

export function uuidParameter(context: Context, name: string): string {
  return parseUuid(context.req.param(name))
}
