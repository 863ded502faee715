import { expect, it } from 'vitest'
import { createUsageReader } from './read-usage.ts'

const most = { input: 10, output: 5_000 }
const read = (isStream: boolean, ...pieces: string[]) => {
  const reader = createUsageReader(isStream, most)
  for (const piece of pieces) reader.take(Buffer.from(piece))
  const { input, output } = reader.end()
  return { input, output }
}
const estimateOf = (text: string): number => Math.ceil(text.length / 3)

it.each([
  ['no usage', '{"text":"hello"}'],
  ['a usage in an unknown form', '{"usage":{"tokens":5}}'],
  ['numbers that are none', '{"usage":{"input_tokens":"7","output_tokens":-1}}'],
  ['no JSON', 'hello'],
])('estimates a response with %s', (_, text) => {
  expect(read(false, text)).toEqual({ input: 10, output: estimateOf(text) })
})

it('estimates only the number that is missing', () => {
  const text = '{"usage":{"input_tokens":7,"produced":3}}'
  expect(read(false, text)).toEqual({ input: 7, output: estimateOf(text) })
})

it('estimates the output of a stream that ends before it is told', () => {
  const start =
    'data: {"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":2,"output_tokens":1}}}\n\n'
  const delta = 'data: {"type":"content_block_delta","delta":{"text":"hello"}}\n\n'
  expect(read(true, start, delta)).toEqual({ input: 9, output: estimateOf(start + delta) })
  const end = 'data: {"type":"message_delta","usage":{"output_tokens":4}}\n\n'
  expect(read(true, start, delta, end)).toEqual({ input: 9, output: 4 })
})

it.each([
  [
    'Anthropic',
    true,
    'data: {"usage":{"input_tokens":1,"output_tokens":1,"server_tool_use":{"web_search_requests":2,"x":1}}}',
    3,
  ],
  [
    'OpenAI',
    true,
    'data: {"response":{"usage":{},"output":[{"type":"web_search_call"},{"type":"function_call"},{"type":"message"},7]}}',
    1,
  ],
  [
    'OpenAI without a stream',
    false,
    '{"usage":{},"output":[{"type":"file_search_call"},{"type":"code_interpreter_call"}]}',
    2,
  ],
  ['nobody', false, '{"usage":{"input_tokens":1,"server_tool_use":"many"},"output":"x"}', 0],
])('counts the tools that ran at the provider, as told by %s', (_, isStream, text, toolCalls) => {
  const reader = createUsageReader(isStream, most)
  reader.take(Buffer.from(`${text}\n\n`))
  expect(reader.end().toolCalls).toBe(toolCalls)
})

it('counts what is written to a cache twice', () => {
  const text =
    '{"usage":{"input_tokens":7,"output_tokens":1,"cache_creation_input_tokens":5,"cache_read_input_tokens":3}}'
  expect(read(false, text)).toEqual({ input: 20, output: 1 })
})

it.each([
  [0.9, estimateOf('data: x\n\n')],
  [20, 2_000],
  [600, most.output],
])('counts what a model may have thought unseen in %d s if a stream breaks off', (seconds, output) => {
  const reader = createUsageReader(true, most, performance.now() - seconds * 1000)
  reader.take(Buffer.from('data: x\n\n'))
  expect(reader.end().output).toBe(output)
})
