/** The scripted model against what the protocols say; real agents use it in script/prove agents. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Models, startModels } from './start-models.ts'

let models: Models
beforeAll(async () => {
  models = await startModels(({ results }) => (results.length === 0 ? { command: 'ls' } : { text: 'done' }))
})
afterAll(() => models.close())

const post = async (path: string, body: object): Promise<string> =>
  (await fetch(models.url + path, { method: 'POST', body: JSON.stringify(body) })).text()
const eventsOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)))

it('speaks messages', async () => {
  const asked = {
    model: 'm',
    stream: true,
    tools: [{ name: 'Bash' }],
    messages: [{ role: 'user', content: 'go' }],
  }
  const events = eventsOf(await post('/v1/messages', asked))
  expect(events.map(({ type }) => type)).toEqual([
    ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
    ...['message_delta', 'message_stop'],
  ])
  expect(JSON.parse(events[2].delta.partial_json)).toMatchObject({ command: 'ls' })
  const result = {
    role: 'user',
    content: [{ type: 'tool_result', content: [{ type: 'text', text: 'a b' }] }],
  }
  const whole = JSON.parse(
    await post('/v1/messages', { ...asked, stream: false, messages: [...asked.messages, result] }),
  )
  expect(whole).toMatchObject({ content: [{ type: 'text', text: 'done' }], stop_reason: 'end_turn' })
  expect(models.requests.at(-1)).toMatchObject({ prompts: ['go'], results: ['a b'], tools: ['Bash'] })
})

it('speaks chat completions', async () => {
  const tools = [{ type: 'function', function: { name: 'bash' } }]
  const text = await post('/v1/chat/completions', {
    ...{
      model: 'm',
      stream: true,
      tools,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }],
    },
  })
  const events = eventsOf(text)
  expect(JSON.parse(events[0].choices[0].delta.tool_calls[0].function.arguments)).toMatchObject({
    command: 'ls',
  })
  expect(events.at(-1).usage.total_tokens).toBe(120)
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})

it('speaks responses', async () => {
  const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] }]
  const asked = { model: 'm', stream: true, tools: [{ type: 'function', name: 'shell' }], input }
  const events = eventsOf(await post('/v1/responses', asked))
  const item = events.find(({ type }) => type === 'response.output_item.done').item
  expect(JSON.parse(item.arguments)).toEqual({ command: ['bash', '-lc', 'ls'] })
  expect(events.at(-1)).toMatchObject({
    type: 'response.completed',
    response: { usage: { input_tokens: 100 } },
  })
  const ended = [...input, item, { type: 'function_call_output', call_id: item.call_id, output: 'a b' }]
  expect(
    eventsOf(await post('/v1/responses', { ...asked, input: ended })).at(-1).response.output[0].content[0],
  ).toMatchObject({
    text: 'done',
  })
  expect(models.requests.at(-1)).toMatchObject({ prompts: ['go'], results: ['a b'] })
})

it('gives a title to a request without tools', async () => {
  const whole = JSON.parse(await post('/v1/chat/completions', { model: 'm', messages: [] }))
  expect(whole.choices[0].message.content).toBe('Work')
})
