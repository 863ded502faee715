import { expect, it } from 'vitest'
import { newRawApiKey } from '../../../keys/raw-api-key.ts'
import { maskSecrets } from './mask-secrets.ts'

const mask = (text: string, variables: string[], files: string[] = []) =>
  maskSecrets(text, { variables, files })

it('takes values out, the longest first, and each line of a value of several', () => {
  expect(mask('s3cret s3cret-long x', ['s3cret', 's3cret-long'])).toBe('*** *** x')
  expect(mask('at the second line', ['first\n  second line\r\nthird'])).toBe('at the ***')
})

it('leaves short values, which are words of every text', () => {
  expect(mask('0 yes 1', ['0', 'yes', ''])).toBe('0 yes 1')
})

it('takes out the lines of secret files, and the values that stand in them', () => {
  const dotenv = 'PASSWORD="hunter22"\nPORT=80\n# note\n'
  expect(mask('got hunter22 on 80', [], [dotenv])).toBe('got *** on 80')
  const json = '{\n  "token": "abcdef",\n  "on": true\n}\n'
  expect(mask('bearer abcdef {', [], [json])).toBe('bearer *** {')
  const pem = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n-----END KEY-----'
  expect(mask('read MIIEvQIBADANBgkq ok', [], [pem])).toBe('read *** ok')
})

it('takes out every API key of the service, known or not', () => {
  expect(mask(`with ${newRawApiKey()}.`, [])).toBe('with ***.')
})
