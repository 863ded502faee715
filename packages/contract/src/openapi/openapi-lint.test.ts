import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { openApiDocument } from '../openapi.ts'

/**
 * The linter's strictest set, in which warnings are errors, and rules beyond it. `paths-kebab-case` is not among them:
 * `secrets:reveal` is a path of the specification.
 */
const config = await createConfig({
  extends: ['recommended-strict'],
  rules: Object.fromEntries(
    [
      ...['operation-description', 'parameter-description', 'tag-description', 'tags-alphabetical'],
      ...['operation-singular-tag', 'operation-4xx-response', 'info-license-strict', 'spec-strict-refs'],
      ...['no-invalid-media-type-examples', 'no-invalid-schema-examples', 'no-invalid-parameter-examples'],
      ...['no-required-schema-properties-undefined', 'no-schema-type-mismatch', 'no-unused-components'],
      ...['no-duplicated-tag-names'],
    ].map((rule) => [rule, 'error'] as const),
  ),
})

const problemsOf = async (document: object): Promise<string[]> => {
  const source = JSON.stringify(document)
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config })
  return problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`,
  )
}

test('the linter finds no problem in the document', async () => {
  expect(await problemsOf(openApiDocument({ serverUrl: 'https://dock.example' }))).toEqual([])
})

test('the linter finds an example that its schema does not accept', async () => {
  const document = openApiDocument({ serverUrl: 'https://dock.example' })
  const deleted = document.components.schemas.Deleted as { examples: object[] }
  deleted.examples = [{ deleted: 'no' }]
  expect((await problemsOf(document)).join()).toContain('no-invalid-schema-examples')
})
