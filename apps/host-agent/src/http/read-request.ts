/** What a path and a body say, checked against the host protocol. */
import type { Context } from 'hono'
import * as z from 'zod'
import { AgentRefusal } from '../docks/agent-refusal.ts'

/** Throws `invalid` with what is wrong. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new AgentRefusal('invalid', z.prettifyError(parsed.error))
  return parsed.data
}

export async function readBody<Schema extends z.ZodType>(context: Context, schema: Schema) {
  const value: unknown = await context.req.json().catch(() => {
    throw new AgentRefusal('invalid', 'the body is not JSON')
  })
  return parse(schema, value)
}

/** In lower case alone: files and disks are named by it. */
export function parseUuid(text: unknown): string {
  return parse(z.uuid().lowercase(), text)
}

export function uuidParameter(context: Context, name: string): string {
  return parseUuid(context.req.param(name))
}
