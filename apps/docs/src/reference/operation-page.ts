/** The page of a tag: all its operations. */
import type { OpenApiDocument } from '@dock/contract'
import { type Html, html } from '../html.ts'
import { fieldsTable, jsonBlock, linkToObject, type Schema, schemaText } from './schema-text.ts'

type Content = Record<string, { schema: Schema }>
type Response = { $ref?: string; description: string; content?: Content }
export type Operation = {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Record<string, unknown>[]
  'x-role'?: string
  'x-dock-extension'?: true
  parameters?: { name: string; in: string; required: boolean; description: string; schema: Schema }[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Response>
}
export type Tools = {
  document: OpenApiDocument
  inline(text: string): Html
  highlight(code: string, language: string): string
}

const resolve = <T>(document: OpenApiDocument, value: { $ref?: string }): T => {
  if (!value.$ref) return value as T
  const keys = value.$ref.slice(2).split('/')
  return keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document) as T
}

const access = ({ security, 'x-role': role }: Operation): string => {
  if (security.length === 0) return 'No credentials'
  const credentials = security.some((each) => 'bearer' in each) ? 'API key or session' : 'Session only'
  return role === undefined || role === 'member' ? credentials : `${credentials}, role ${role}`
}

const parameters = ({ parameters: list = [] }: Operation, { inline }: Tools): Html =>
  list.length === 0
    ? html``
    : html`<h3>Parameters</h3>
<div class="table" tabindex="0"><table class="fields"><thead><tr><th>Name</th><th>Value</th></tr></thead><tbody>${list.map(
        (
          each,
        ) => html`<tr><td><code>${each.name}</code> <small>${each.in}${each.required ? '' : ', optional'}</small></td>
<td>${inline(each.description)}<br>${schemaText(each.schema)}${each.schema.default === undefined ? '' : html`. Default: <code>${JSON.stringify(each.schema.default)}</code>`}</td></tr>`,
      )}</tbody></table></div>`

const bodyOf = ({ requestBody }: Operation, tools: Tools): Html => {
  if (!requestBody) return html``
  const schema = requestBody.content['application/json']?.schema
  if (!schema)
    return html`<h3>Body</h3><p>Bytes, as ${Object.keys(requestBody.content).map((type, index) => html`${index > 0 ? ' or ' : ''}<code>${type}</code>`)}.</p>`
  const object = resolve<Schema>(tools.document, schema)
  return html`<h3>Body</h3>
<p>${schemaText(schema)}${requestBody.required ? '' : ', may be omitted'}</p>
${fieldsTable(object, tools.inline)}
${object.examples ? jsonBlock(object.examples[0], tools.highlight) : ''}`
}

/** An example of the data: of the object, or a list of one. */
const exampleOf = (document: OpenApiDocument, data: Schema): unknown => {
  if (data.type === 'array') return [exampleOf(document, data.items ?? {})]
  const first = data.anyOf?.find((each) => each.$ref) ?? data
  return resolve<Schema>(document, first).examples?.[0]
}

const responseOf = ({ responses }: Operation, tools: Tools): Html => {
  const [status, response] = Object.entries(responses).find(([key]) => key < '400') ?? []
  if (!response) return html``
  const data = response.content?.['application/json']?.schema.properties?.data
  const types = Object.keys(response.content ?? {})
  return html`<h3>Response ${status}</h3>
${
  data
    ? html`<p>${schemaText(data)}</p>${jsonBlock({ ok: true, data: exampleOf(tools.document, data) }, tools.highlight)}`
    : html`<p>${tools.inline(Object.values(response.content ?? {})[0]?.schema.description ?? response.description)}</p><p>Content: ${types.map((type, index) => html`${index > 0 ? ' or ' : ''}<code>${type}</code>`)}</p>`
}`
}

const failures = ({ responses }: Operation, { document, inline }: Tools): Html => {
  const rows = Object.entries(responses)
    .filter(([status, response]) => status >= '400' && response.$ref)
    .flatMap(([status, reference]) =>
      resolve<Response>(document, reference)
        .description.split('\n\n')
        .map((line) => {
          const [, code = '', meaning = ''] = /^`(\w+)`: (.*)$/.exec(line) ?? []
          return html`<tr><td>${status}</td><td><code>${code}</code></td><td>${inline(meaning)}</td></tr>`
        }),
    )
  return html`<details><summary>${rows.length} error codes</summary>
<div class="table" tabindex="0"><table class="errors"><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>${rows}</tbody></table></div></details>`
}

/** Returns the operations of a tag with their methods and paths. */
export function operationsOf(document: OpenApiDocument, tag: string): [string, string, Operation][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .map(([method, operation]) => [method, path, operation as Operation] as [string, string, Operation])
      .filter(([, , { tags }]) => tags.includes(tag)),
  )
}

/** Lets a long path break after each slash. */
const breakable = (path: string): Html =>
  html`${path.split('/').map((part, index) => html`${index > 0 ? html`/<wbr>` : ''}${part}`)}`

const section = (method: string, path: string, operation: Operation, tools: Tools): Html => html`
<section class="operation">
<h2 id="${operation.operationId}"><a href="#${operation.operationId}">${operation.summary.replaceAll('`', '')}</a></h2>
<p class="line"><span class="method ${method}">${method.toUpperCase()}</span> <code class="path">${breakable(path)}</code></p>
<p class="badges"><span>${access(operation)}</span>${operation['x-dock-extension'] ? html`<span>Extension</span>` : ''}<span class="name">${operation.operationId}</span></p>
<p>${tools.inline(operation.description)}</p>
${parameters(operation, tools)}
${bodyOf(operation, tools)}
${responseOf(operation, tools)}
${failures(operation, tools)}
</section>`

/** Returns the page of a tag. */
export function operationPage(tag: { name: string; description: string | undefined }, tools: Tools): Html {
  const operations = operationsOf(tools.document, tag.name)
  return html`<h1>${tag.name}</h1>
<p>${tag.description}</p>
<div class="table" tabindex="0"><table class="contents"><tbody>${operations.map(
    ([method, path, { operationId, summary }]) =>
      html`<tr><td><span class="method ${method}">${method.toUpperCase()}</span></td><td><a href="#${operationId}">${summary.replaceAll('`', '')}</a><br><code class="path">${breakable(path)}</code></td></tr>`,
  )}</tbody></table></div>
${operations.map(([method, path, operation]) => section(method, path, operation, tools))}`
}

/** Returns the page of all named objects. */
export function objectPage({ document, inline, highlight }: Tools): Html {
  const schemas = Object.entries(document.components.schemas) as [string, Schema][]
  return html`<h1>Objects</h1>
<p>Every object and enumeration that the API takes and returns, by name.</p>
${schemas.map(
  ([name, schema]) => html`
<section>
<h2 id="${name}"><a href="#${name}">${name}</a></h2>
${schema.description ? html`<p>${inline(schema.description)}</p>` : ''}
${schema.properties ? fieldsTable(schema, inline) : html`<p>${schema.oneOf ? html`One of ${schema.oneOf.map((each, index) => html`${index > 0 ? ', ' : ''}${linkToObject(each.$ref ?? '')}`)}` : schemaText(schema)}</p>`}
${schema.examples ? jsonBlock(schema.examples[0], highlight) : ''}
</section>`,
)}`
}
