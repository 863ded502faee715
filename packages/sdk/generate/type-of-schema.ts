/** Converts schemas of the contract to plain TypeScript types, so that the published SDK does not need zod. */
import type * as z from 'zod'

/** `request`: what a caller may send. `query`: the same, as values instead of text. `response`: what the service sends. */
export type Side = 'request' | 'query' | 'response'

/** The part of zod's internal definitions that the contract uses. */
type Definition = {
  type: string
  innerType?: z.ZodType
  element?: z.ZodType
  shape?: Record<string, z.ZodType>
  options?: z.ZodType[]
  values?: (string | number | boolean | null)[]
  entries?: Record<string, string>
  keyType?: z.ZodType
  valueType?: z.ZodType
  in?: z.ZodType
  out?: z.ZodType
  catchall?: z.ZodType
}

const definitionOf = (schema: z.ZodType): Definition => schema._zod.def as unknown as Definition

const isOptional = (schema: z.ZodType, side: Side): boolean => {
  const { type, innerType } = definitionOf(schema)
  if (type === 'optional') return true
  if (type === 'default' || type === 'prefault') return side !== 'response'
  return type === 'nullable' && innerType ? isOptional(innerType, side) : false
}

const literal = (value: unknown): string => JSON.stringify(value)

/** Converts schemas; those in `names` are written as their name. */
export class TypeWriter {
  readonly #names: ReadonlyMap<z.ZodType, string>
  constructor(names: ReadonlyMap<z.ZodType, string>) {
    this.#names = names
  }

  typeOf(schema: z.ZodType, side: Side): string {
    const name = side === 'response' ? this.#names.get(schema) : undefined
    return name ?? this.definition(schema, side)
  }

  /** Returns the type written out, also if the schema has a name. */
  definition(schema: z.ZodType, side: Side): string {
    const definition = definitionOf(schema)
    const inner = (): string => this.typeOf(definition.innerType!, side)
    switch (definition.type) {
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
      case 'unknown':
        return definition.type
      case 'int':
        return 'number'
      case 'literal':
        return definition.values!.map(literal).join(' | ')
      case 'enum':
        return Object.values(definition.entries!).map(literal).join(' | ')
      case 'optional':
      case 'default':
      case 'prefault':
        return inner()
      case 'nullable':
        return `${inner()} | null`
      case 'array': {
        const element = this.typeOf(definition.element!, side)
        return /[ |{]/.test(element) ? `Array<${element}>` : `${element}[]`
      }
      case 'record':
        return `Record<string, ${this.typeOf(definition.valueType!, side)}>`
      case 'union':
        return definition.options!.map((option) => this.typeOf(option, side)).join(' | ')
      case 'pipe':
        return this.typeOf(side === 'request' ? definition.in! : definition.out!, side)
      case 'object':
        return this.#object(definition, side)
      default:
        throw new Error(`the generator of the SDK does not know schemas of type ${definition.type}`)
    }
  }

  #object({ shape, catchall }: Definition, side: Side): string {
    const fields = Object.entries(shape!).map(([name, field]) => {
      const mark = isOptional(field, side) ? ['?', ' | undefined'] : ['', '']
      const { description } = field.meta() ?? {}
      const comment = description === undefined ? '' : `/** ${description.replaceAll('*/', '* /')} */\n`
      return `${comment}${name}${mark[0]}: ${this.typeOf(field, side)}${mark[1]}`
    })
    if (catchall && definitionOf(catchall).type === 'unknown') fields.push('[name: string]: unknown')
    return fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('\n')}\n}`
  }
}
