import { expect, test } from 'vitest'
import { openApiDocument, openApiPath } from './openapi.ts'
import type { Route } from './route.ts'
import { routes } from './routes.ts'

// Serialize as for a caller: fields that JSON drops are not in the document.
const document = JSON.parse(JSON.stringify(openApiDocument({ serverUrl: 'https://dock.example' })))
const all = Object.entries(routes) as [string, Route][]

test('lists every route once, under its method and path', () => {
  const listed = Object.entries<object>(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path}`),
  )
  expect(listed.toSorted()).toEqual(
    all.map(([, route]) => `${route.method.toLowerCase()} ${openApiPath(route.path)}`).toSorted(),
  )
  expect(listed).toHaveLength(135)
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
    expect(operation.requestBody.content['application/json'].schema).toMatchObject({
      type: 'object',
      additionalProperties: false,
    })
  else if (route.requestKind) expect(Object.keys(operation.requestBody.content)).toEqual(route.requestTypes)
  else expect(operation.requestBody).toBeUndefined()
  const status = route.responseKind === 'websocket' ? 101 : (route.status ?? 200)
  const { content } = operation.responses[status]
  const { schema } = content['application/json'] ?? Object.values<{ schema: object }>(content)[0]
  expect(Object.keys(route.responseKind ? schema : schema.properties.data)).not.toHaveLength(0)
  const failures = Object.entries<{ content: object }>(operation.responses).filter(
    ([key]) => Number(key) >= 400,
  )
  const codes = failures.flatMap(
    ([, failure]) =>
      (
        failure.content as Record<
          string,
          { schema: { allOf: { properties?: { code: { enum: string[] } } }[] } }
        >
      )['application/json']?.schema.allOf[1]?.properties?.code.enum ?? [],
  )
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
