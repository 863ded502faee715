/** The protocol of OpenAI's chat completions. */
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

const { input, output } = tokensOfReply
const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }

const messageOf = (said: Said): Json =>
  isToolUse(said)
    ? {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            ...{ index: 0, id: newId('call'), type: 'function' },
            function: { name: said.name, arguments: JSON.stringify(said.input) },
          },
        ],
      }
    : { role: 'assistant', content: said.text }

const finishOf = (said: Said): string => (isToolUse(said) ? 'tool_calls' : 'stop')

export const chat: ModelProtocol = {
  path: '/v1/chat/completions',
  read: (body) => {
    const prompts: string[] = []
    const results: string[] = []
    for (const { role, content } of listOf(body.messages)) {
      if (role === 'tool') results.push(textOf(content))
      if (role === 'user') prompts.push(textOf(content))
    }
    return { prompts, results, tools: listOf(body.tools).map((tool) => String((tool.function as Json).name)) }
  },
  events: (said, model) => {
    const chunk = (rest: Json): { type: string; data: Json } => ({
      type: '',
      data: { id, object: 'chat.completion.chunk', created: 1, model, ...rest },
    })
    const id = newId('chatcmpl')
    return [
      chunk({ choices: [{ index: 0, delta: messageOf(said), finish_reason: null }] }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: finishOf(said) }] }),
      chunk({ choices: [], usage }),
    ]
  },
  whole: (said, model) => ({
    ...{ id: newId('chatcmpl'), object: 'chat.completion', created: 1, model, usage },
    choices: [{ index: 0, message: messageOf(said), finish_reason: finishOf(said) }],
  }),
}
