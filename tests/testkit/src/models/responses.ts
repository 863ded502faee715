/** The protocol of OpenAI's responses. */
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
const usage = {
  ...{ input_tokens: input, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: output, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: input + output },
}

const itemOf = (said: Said): Json =>
  isToolUse(said)
    ? {
        ...{ type: 'function_call', id: newId('fc'), call_id: newId('call'), status: 'completed' },
        ...{ name: said.name, arguments: JSON.stringify(said.input) },
      }
    : {
        ...{ type: 'message', id: newId('msg'), role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text: said.text, annotations: [] }],
      }

const responseOf = (model: string, rest: Json): Json => ({
  ...{ id: newId('resp'), object: 'response', created_at: 1, model, output: [], status: 'in_progress' },
  ...rest,
})

/** What comes between the start and the end of an item. */
const deltasOf = (said: Said, item: Json): Json[] => {
  const at = { item_id: item.id, output_index: 0 }
  return isToolUse(said)
    ? [
        { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments },
        { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
      ]
    : [
        {
          type: 'response.content_part.added',
          ...at,
          content_index: 0,
          part: { type: 'output_text', text: '', annotations: [] },
        },
        { type: 'response.output_text.delta', ...at, content_index: 0, delta: said.text },
        { type: 'response.output_text.done', ...at, content_index: 0, text: said.text },
      ]
}

export const responses: ModelProtocol = {
  path: '/v1/responses',
  read: (body) => {
    const prompts: string[] = []
    const results: string[] = []
    const items =
      typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : listOf(body.input)
    for (const item of items as Json[]) {
      if (String(item.type).endsWith('_output')) results.push(textOf(item.output))
      if (item.role === 'user') prompts.push(textOf(item.content))
    }
    return { prompts, results, tools: listOf(body.tools).map(({ name, type }) => String(name ?? type)) }
  },
  events: (said, model) => {
    const item = itemOf(said)
    const response = responseOf(model, {})
    const begun = isToolUse(said)
      ? { ...item, arguments: '', status: 'in_progress' }
      : { ...item, content: [] }
    const events: Json[] = [
      { type: 'response.created', response },
      { type: 'response.output_item.added', output_index: 0, item: begun },
      ...deltasOf(said, item),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage } },
    ]
    return events.map((data, sequence_number) => ({
      type: String(data.type),
      data: { ...data, sequence_number },
    }))
  },
  whole: (said, model) => responseOf(model, { status: 'completed', output: [itemOf(said)], usage }),
}
