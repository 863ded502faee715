/** Converts the contract's schemas to JSON Schema. Named schemas become references to `components`. */
import * as z from 'zod'
import { namedSchemas } from './named-schemas.ts'

export type Json = Record<string, unknown>

const referenceTo = (name: string): string => `#/components/schemas/${name}`
const int32Max = 2_147_483_647

/** Formats say more than the long patterns that check them, and generators understand them. */
const simplify = (schema: Json): void => {
  if (['uuid', 'date-time', 'date', 'email'].includes(String(schema.format))) delete schema.pattern
  if (schema.type !== 'integer') return
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.maximum === undefined || Number(schema.maximum) > int32Max) schema.format = 'int64'
}

type Direction = 'input' | 'output'

const convert = (schemas: ReadonlyMap<z.ZodType, string>, io: Direction): Map<string, Json> => {
  const registry = z.registry<{ id: string }>()
  for (const [schema, id] of schemas) registry.add(schema, { id })
  const converted = z.toJSONSchema(registry, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    uri: referenceTo,
    override: ({ jsonSchema }) => simplify(jsonSchema as Json),
  }).schemas as Record<string, Json>
  return new Map(Object.entries(converted).map(([id, { $schema: _schema, $id: _id, ...json }]) => [id, json]))
}

/** The schemas of a direction: what callers send, or what the service returns. */
export type JsonSchemas = {
  /** Returns a schema as it is used in the document: a reference if it is named. */
  use(schema: z.ZodType): Json
  /** Returns the definition of a named schema. */
  definition(name: string): Json
}

/** Converts all named schemas and `others` at once. `use` throws for a schema that is neither. */
export function jsonSchemas(io: Direction, others: Iterable<z.ZodType>): JsonSchemas {
  const named = namedSchemas()
  const all = new Map(named)
  for (const schema of others) if (!all.has(schema)) all.set(schema, `unnamed ${all.size}`)
  const converted = convert(all, io)
  return {
    use: (schema) => {
      const name = all.get(schema)
      if (name === undefined) throw new Error('this schema was not converted')
      return named.has(schema) ? { $ref: referenceTo(name) } : (converted.get(name) as Json)
    },
    definition: (name) => converted.get(name) as Json,
  }
}

/** Adds to `found` the names of all schemas that `value` refers to, and those that they refer to. */
export function collectReferences(
  value: unknown,
  definition: (name: string) => Json,
  found: Set<string>,
): void {
  if (Array.isArray(value)) {
    for (const each of value) collectReferences(each, definition, found)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      if (key !== '$ref') collectReferences(each, definition, found)
      else if (typeof each === 'string' && each.startsWith(referenceTo(''))) {
        const name = each.slice(referenceTo('').length)
        if (found.has(name)) continue
        found.add(name)
        collectReferences(definition(name), definition, found)
      }
    }
  }
}
