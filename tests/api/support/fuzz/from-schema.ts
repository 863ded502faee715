/** Generates values that a JSON Schema of the OpenAPI document allows, including its limits. */
import fc from 'fast-check'
import { hostileCursors } from './hostile-values.ts'

export type Schema = {
  type?: string | string[]
  format?: string
  pattern?: string
  enum?: unknown[]
  const?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  propertyNames?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
}

const generatedLengthMax = 80

/** Values with a meaning to the service, by field name. */
const meaningful: Readonly<Record<string, readonly string[]>> = {
  dockId: ['@dockId@'],
  image: ['debian-13'],
  environment: ['default'],
  from: ['@/v1/templates/:name@', '@folder@/a'],
  to: ['@folder@/b'],
  // A secret file of an Environment, and paths in a Dock.
  path: ['config/token', '@folder@', '@folder@/a', '@folder@/a', '@folder@/b', '/etc/hostname'],
  cursor: hostileCursors,
  confirmation: ['erase my account data', 'delete archived dock data'],
  publicKey: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO5q0M3q9n6c0m0m1nVtXzqjYJpU0f0b3c2d1e0f9a8b laptop'],
  'x-confirm-delete': ['@confirm@'],
}

const between = (min: number, max: number): fc.Arbitrary<number> =>
  fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max }))

const textOf = (schema: Schema, named: string): fc.Arbitrary<string> => {
  const known = meaningful[named]
  const plain = plainText(schema, named)
  return known
    ? fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: plain })
    : plain
}

const plainText = (schema: Schema, idNamed: string): fc.Arbitrary<string> => {
  switch (schema.format) {
    case 'uuid':
      return fc.oneof(
        { weight: 4, arbitrary: fc.constant(`@${idNamed}@`) },
        { weight: 1, arbitrary: fc.uuid() },
      )
    case 'email':
      return fc.constantFrom('somebody@example.test', 'Some.Body+x@sub.example.test')
    case 'uri':
      return fc.constantFrom('https://hooks.example.com/dock', 'https://example.com:443/?a=b#c')
    case 'date-time':
      return fc
        .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
        .map((date) => date.toISOString())
  }
  const { minLength = 0, maxLength = generatedLengthMax } = schema
  const atMost = Math.max(minLength, Math.min(maxLength, generatedLengthMax))
  if (schema.pattern !== undefined)
    return fc.stringMatching(new RegExp(schema.pattern)).map((text) => text.slice(0, maxLength))
  const made = fc.string({ minLength, maxLength: atMost })
  return maxLength > 5000
    ? made
    : fc.oneof({ weight: 9, arbitrary: made }, fc.constant('x'.repeat(maxLength)))
}

const sometimes = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })

const objectOf = (schema: Schema): fc.Arbitrary<object> => {
  const required = new Set(schema.required)
  const fields = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const value = fromSchema(property, name)
    return [name, required.has(name) ? value : sometimes(value)] as const
  })
  // JSON omits undefined fields.
  const known = fc.record(Object.fromEntries(fields))
  if (typeof schema.additionalProperties !== 'object') return known
  const name = schema.propertyNames
    ? (fromSchema(schema.propertyNames, '') as fc.Arbitrary<string>)
    : fc.string()
  return fc.dictionary(name, fromSchema(schema.additionalProperties, ''), { maxKeys: 4 })
}

/** Generates values that the schema allows. `named` is the property's name; id fields get placeholders for real ids. */
export function fromSchema(schema: Schema, named: string): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return fc.oneof(...choices.map((choice) => fromSchema(choice, named)))
  switch (schema.type) {
    case 'string':
      return textOf(schema, named)
    case 'integer':
      return between(
        schema.minimum ?? 0,
        schema.maximum ?? (schema.format === 'int64' ? Number.MAX_SAFE_INTEGER : 2 ** 31 - 1),
      )
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(fromSchema(schema.items ?? {}, named), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      })
    case 'object':
      return objectOf(schema)
    default:
      return fc.constantFrom('x', 1, null)
  }
}
