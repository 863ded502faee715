import { expect, test } from 'vitest'
import * as z from 'zod'
import { type ErrorCode, errorCodes } from './errors.ts'
import { errorCodesByStatus } from './openapi/error-codes.ts'
import { examples } from './openapi/examples.ts'
import { fieldDescriptions } from './openapi/field-descriptions.ts'
import { namedSchemas } from './openapi/named-schemas.ts'
import { openApiDocument, openApiPath } from './openapi.ts'
import type { Route } from './route.ts'
import { routes } from './routes.ts'

// Serialize as for a caller: fields that JSON drops are not in the document.
const document = JSON.parse(JSON.stringify(openApiDocument({ serverUrl: 'https://dock.example' })))
// biome-ignore lint/suspicious/noExplicitAny: the document has no type of its own.
type Json = any
const resolve = (value: Json): Json =>
  typeof value?.$ref === 'string'
    ? resolve(
        value.$ref
          .slice(2)
          .split('/')
          .reduce((at: Json, key: string) => at[key], document),
      )
    : value
const all = Object.entries(routes) as [string, Route][]

test('lists every route once, under its method and path', () => {
  const listed = Object.entries<object>(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path}`),
  )
  expect(listed.toSorted()).toEqual(
    all.map(([, route]) => `${route.method.toLowerCase()} ${openApiPath(route.path)}`).toSorted(),
  )
  expect(document.openapi).toBe('3.1.0')
  expect(document.paths['/v1/environments/{ref}/secrets:reveal'].post.operationId).toBe(
    'revealEnvironmentSecrets',
  )
})

test.each(all)('%s has its parameters, request, response and failures', (name, route) => {
  const operation = document.paths[openApiPath(route.path)][route.method.toLowerCase()]
  expect(operation.operationId).toBe(name)
  const inPath = (operation.parameters ?? []).filter((parameter: { in: string }) => parameter.in === 'path')
  expect(inPath.map((parameter: { name: string }) => `{${parameter.name}}`)).toEqual(
    openApiPath(route.path).match(/\{[^}]+\}/g) ?? [],
  )
  for (const parameter of operation.parameters ?? [])
    expect(Object.keys(parameter.schema)).not.toHaveLength(0)
  if (route.body)
    expect(resolve(operation.requestBody.content['application/json'].schema)).toMatchObject({
      type: 'object',
      additionalProperties: false,
    })
  else if (route.requestKind) expect(Object.keys(operation.requestBody.content)).toEqual(route.requestTypes)
  else expect(operation.requestBody).toBeUndefined()
  const status = route.responseKind === 'websocket' ? 101 : (route.status ?? 200)
  const { content } = operation.responses[status]
  const { schema } = content['application/json'] ?? Object.values<{ schema: object }>(content)[0]
  expect(Object.keys(route.responseKind ? schema : schema.properties.data)).not.toHaveLength(0)
  const codes = Object.entries<Json>(operation.responses)
    .filter(([key]) => Number(key) >= 400)
    .flatMap(([key, reference]) => {
      const response = resolve(reference)
      const listed = response.content['application/json'].schema.allOf[1].properties.code.enum as ErrorCode[]
      for (const code of listed) expect(response.description).toContain(errorCodes[code].message)
      expect(listed.toSorted(), `${key}: ${reference.$ref}`).toEqual(
        errorCodesByStatus(route).get(Number(key))?.toSorted(),
      )
      return listed
    })
  expect(codes).toEqual(expect.arrayContaining([...route.errors, 'internal_error']))
  expect(operation.security).toHaveLength(
    route.access.credentials === 'public' ? 0 : route.access.credentials.endsWith('session') ? 1 : 2,
  )
})

test('every $ref has a target', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    (match) => match[1] ?? '',
  )
  expect(references).not.toHaveLength(0)
  for (const reference of new Set(references)) {
    const target = reference.split('/').reduce((value, key) => value?.[key], document)
    expect(target, reference).toBeDefined()
  }
})

test('every object is a named schema, and names are those of the types', () => {
  const inline: string[] = []
  const visit = (value: Json, at: string): void => {
    if (typeof value !== 'object' || value === null) return
    if (value.properties && !/^\/(schemas|responses)\/[^/]+$/.test(at)) inline.push(at)
    for (const [key, each] of Object.entries<Json>(value))
      if (key !== 'example' && key !== 'examples') visit(each, `${at}/${key}`)
  }
  visit({ schemas: document.components.schemas }, '')
  expect(inline).toEqual([])
  for (const operation of Object.values<Json>(document.paths).flatMap((path) => Object.values<Json>(path)))
    for (const [status, { content }] of Object.entries<Json>(operation.responses)) {
      const data = content?.['application/json']?.schema.properties?.data
      if (status < '300' && data) expect(JSON.stringify(data), operation.operationId).toContain('"$ref"')
    }
  expect(Object.keys(document.components.schemas)).toEqual(
    expect.arrayContaining(['Dock', 'DockProcess', 'Environment', 'CreateDockBody', 'FileChange', 'Role']),
  )
  expect(new Set(namedSchemas().values()).size).toBe(namedSchemas().size)
})

test('stays small: each schema and each set of failures is written once', () => {
  expect(JSON.stringify(document).length).toBeLessThan(475_000)
})

test('every object has an example that its schema accepts, and no example is left over', () => {
  const objects = [...namedSchemas()].filter(([schema]) => !(schema instanceof z.ZodEnum))
  const used = objects.filter(([, name]) => document.components.schemas[name])
  for (const [schema, name] of used) {
    expect(examples[name], name).toBeDefined()
    expect(schema.safeParse(examples[name]).error?.issues, name).toBeUndefined()
    expect(document.components.schemas[name].examples).toEqual([examples[name]])
  }
  expect(Object.keys(examples).toSorted()).toEqual(used.map(([, name]) => name).toSorted())
})

test('summaries are a line, descriptions are sentences, and extensions are marked', () => {
  for (const [name, { summary, description }] of all) {
    expect(summary, name).toMatch(/^[A-Z].*[^.]$/)
    expect(description, name).toMatch(/^[A-Z`].*\.$/)
  }
  expect(document.paths['/v1/docks/{id}/files'].get['x-dock-extension']).toBe(true)
  expect(document.paths['/v1/docks/{id}'].get).not.toHaveProperty('x-dock-extension')
})

type Parameter = { name: string; description?: string }

test('every description of a field is in the document', () => {
  for (const [name, fields] of Object.entries(fieldDescriptions))
    for (const [field, text] of Object.entries(fields))
      expect(document.components.schemas[name]?.properties[field]?.description, `${name}.${field}`).toBe(text)
})

test('every parameter has a description', () => {
  for (const [path, operations] of Object.entries<Record<string, { parameters?: Parameter[] }>>(
    document.paths,
  ))
    for (const { parameters = [] } of Object.values(operations))
      for (const { name, description } of parameters) expect(description, `${path} ${name}`).toMatch(/\.$/)
})
