/** Writes JSON Schemas for people. */
import { Html, html } from '../html.ts'

export type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  pattern?: string
  description?: string
  enum?: (string | number)[]
  const?: unknown
  default?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
  examples?: object[]
}

const nameOf = (reference: string): string => reference.split('/').at(-1) ?? ''

/** Links to the description of a named object. */
export function linkToObject(reference: string): Html {
  const name = nameOf(reference)
  return html`<a href="/docs/reference/objects/#${name}">${name}</a>`
}

const between = (list: readonly Html[], separator: string): Html[] =>
  list.flatMap((each, index) => (index === 0 ? [each] : [html`${separator}`, each]))

const words: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  null: 'null',
  object: 'object',
}
const formats: Readonly<Record<string, string>> = {
  uuid: 'id',
  'date-time': 'time (ISO 8601)',
  date: 'date',
  email: 'email address',
  uri: 'URL',
  binary: 'bytes',
}

const range = (least: number | undefined, most: number | undefined, unit: string): string => {
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}${unit}`
  if (most !== undefined) return `, at most ${most}${unit}`
  return least !== undefined && least > 0 ? `, at least ${least}${unit}` : ''
}

/** Returns what values a schema allows, in a few words. */
export function schemaText(schema: Schema): Html {
  if (schema.$ref) return linkToObject(schema.$ref)
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`
  if (schema.enum) {
    const values = between(
      schema.enum.map((value) => html`<code>${value}</code>`),
      ' ',
    )
    return html`<span class="choices">one of ${values}</span>`
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return html`${between(choices.map(schemaText), ' or ')}`
  if (Array.isArray(schema.type))
    return html`${between(
      schema.type.map((type) => schemaText({ ...schema, type })),
      ' or ',
    )}`
  if (schema.type === 'array') return html`list of ${schemaText(schema.items ?? {})}`
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object')
    return html`object with names of your choice, each ${schemaText(schema.additionalProperties)}`
  if (schema.type === 'string')
    return html`${formats[schema.format ?? ''] ?? 'text'}${range(schema.minLength, schema.maxLength, ' characters')}`
  return html`${words[schema.type ?? ''] ?? 'any value'}${range(schema.minimum, schema.maximum, '')}`
}

/** Returns a table of the fields of an object. */
export function fieldsTable(schema: Schema, markdown: (text: string) => Html): Html {
  const required = new Set(schema.required)
  const rows = Object.entries(schema.properties ?? {}).map(
    ([
      name,
      field,
    ]) => html`<tr><td><code>${name}</code>${required.has(name) ? '' : html` <small>optional</small>`}</td>
<td>${schemaText(field)}${field.default === undefined ? '' : html`. Default: <code>${JSON.stringify(field.default)}</code>`}${field.description === undefined ? '' : html`<br>${markdown(field.description)}`}</td></tr>`,
  )
  if (rows.length === 0) return html``
  return html`<div class="table" tabindex="0"><table class="fields"><thead><tr><th>Field</th><th>Value</th></tr></thead><tbody>${rows}</tbody></table></div>`
}

/** Returns a value as highlighted JSON. */
export function jsonBlock(value: unknown, highlight: (code: string, language: string) => string): Html {
  return html`<pre tabindex="0"><code class="hljs">${new Html(highlight(JSON.stringify(value, null, 2), 'json'))}</code></pre>`
}
