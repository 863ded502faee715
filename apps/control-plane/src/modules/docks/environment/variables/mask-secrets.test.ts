import { expect, it } from 'vitest'
import { newRawApiKey } from '../../../keys/api-keys/raw-api-key.ts'
import { maskSecrets } from './mask-secrets.ts'

const mask = (text: string, variables: string[], files: string[] = []) =>
  maskSecrets(text, { variables, files })

it('masks values, the longest first, and each line of a multi-line value', () => {
  expect(mask('s3cret s3cret-long x', ['s3cret', 's3cret-long'])).toBe('*** *** x')
  expect(mask('at the second line', ['first\n  second line\r\nthird'])).toBe('at the ***')
})

it('does not mask short values, which occur in any text', () => {
  expect(mask('0 yes 1', ['0', 'yes', ''])).toBe('0 yes 1')
})

it('masks the lines of secret files and the values in them', () => {
  const dotenv = 'PASSWORD="hunter22"\nPORT=80\n# note\n'
  expect(mask('got hunter22 on 80', [], [dotenv])).toBe('got *** on 80')
  const json = '{\n  "token": "abcdef",\n  "on": true\n}\n'
  expect(mask('bearer abcdef {', [], [json])).toBe('bearer *** {')
  const pem = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n-----END KEY-----'
  expect(mask('read MIIEvQIBADANBgkq ok', [], [pem])).toBe('read *** ok')
})

it('masks every API key of this service, even an unknown one', () => {
  expect(mask(`with ${newRawApiKey()}.`, [])).toBe('with ***.')
})
