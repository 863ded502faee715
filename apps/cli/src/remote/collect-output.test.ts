import { expect, it } from 'vitest'
import { collectOutput } from './collect-output.ts'

it('keeps characters that arrive in two pieces', () => {
  const { sinks, texts } = collectOutput()
  const bytes = Buffer.from('aü')
  sinks.stdout.write(bytes.subarray(0, 2))
  sinks.stdout.write(bytes.subarray(2))
  sinks.stderr.write(Buffer.from('err'))
  expect(texts()).toEqual({ stdout: 'aü', stderr: 'err', truncated: false })
})

it('keeps the beginning of what is too long, and says so', () => {
  const { sinks, texts } = collectOutput(4)
  for (const text of ['abc', 'def', 'ghi']) sinks.stdout.write(Buffer.from(text))
  expect(texts()).toEqual({ stdout: 'abcd', stderr: '', truncated: true })
})
