/** The protocol of Anthropic's messages. */
import {
  isToolUse,
  type Json,
  listOf,
  type ModelProtocol,
  newId,
  type Said,
  textOf,
  tokensOfReply,
} from './model-protocol.ts'

const usage = { input_tokens: tokensOfReply.input, output_tokens: tokensOfReply.output }

const blockOf = (said: Said): Json =>
  isToolUse(said)
    ? { type: 'tool_use', id: newId('toolu'), name: said.name, input: said.input }
    : { type: 'text', text: said.text }

const stopOf = (said: Said): string => (isToolUse(said) ? 'tool_use' : 'end_turn')

const message = (model: string): Json => ({
  ...{ id: newId('msg'), type: 'message', role: 'assistant', model, content: [] },
  ...{ stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
})

export const messages: ModelProtocol = {
  path: '/v1/messages',
  read: (body) => {
    const prompts: string[] = []
    const results: string[] = []
    for (const { role, content } of listOf(body.messages)) {
      if (role !== 'user') continue
      const found = listOf(content).filter(({ type }) => type === 'tool_result')
      if (found.length > 0) results.push(...found.map((each) => textOf(each.content)))
      else prompts.push(textOf(content))
    }
    return { prompts, results, tools: listOf(body.tools).map(({ name }) => String(name)) }
  },
  events: (said, model) => {
    const block = blockOf(said)
    const delta = isToolUse(said)
      ? { type: 'input_json_delta', partial_json: JSON.stringify(said.input) }
      : { type: 'text_delta', text: said.text }
    const begun = isToolUse(said) ? { ...block, input: {} } : { ...block, text: '' }
    const events: Json[] = [
      { type: 'message_start', message: message(model) },
      { type: 'content_block_start', index: 0, content_block: begun },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: stopOf(said), stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]
    return events.map((data) => ({ type: String(data.type), data }))
  },
  whole: (said, model) => ({ ...message(model), content: [blockOf(said)], stop_reason: stopOf(said), usage }),
}
