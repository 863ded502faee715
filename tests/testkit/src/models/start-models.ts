/** A provider of models on a loopback port, whose replies a test writes. It speaks the protocols that the agents use. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chat } from './chat.ts'
import { messages } from './messages.ts'
import { type Asked, type Json, type ModelProtocol, type ModelReply, sayWith } from './model-protocol.ts'
import { responses } from './responses.ts'

export type ModelRequest = Asked & {
  path: string
  model: string
  headers: IncomingHttpHeaders
  /** The whole body, as JSON. */
  body: string
}

export type Models = {
  url: string
  /** Received requests, oldest first. */
  requests: ModelRequest[]
  close(): Promise<void>
}

const protocols: readonly ModelProtocol[] = [messages, chat, responses]

const readText = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8')
}

type Script = (request: ModelRequest) => ModelReply | Promise<ModelReply>

/** `script` returns the reply to a request that offers tools. Requests without tools get a short text. */
export async function startModels(script: Script): Promise<Models> {
  const requests: ModelRequest[] = []
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').split('?')[0]!
    const text = await readText(request)
    const body = (text === '' ? {} : JSON.parse(text)) as Json
    const json = (answer: Json, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    }
    const protocol = protocols.find((each) => each.path === path)
    if (path === '/v1/messages/count_tokens') return json({ input_tokens: 10 })
    if (path === '/v1/models') return json({ object: 'list', data: [], models: [] })
    if (!protocol) return json({ error: { type: 'not_found', message: path } }, 404)
    const model = String(body.model)
    const asked: ModelRequest = { ...protocol.read(body), path, model, headers: request.headers, body: text }
    requests.push(asked)
    const said = asked.tools.length === 0 ? { text: 'Work' } : sayWith(asked.tools, await script(asked))
    if (body.stream !== true) return json(protocol.whole(said, model))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const { type, data } of protocol.events(said, model))
      response.write(`${type === '' ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`)
    response.end(protocol === chat ? 'data: [DONE]\n\n' : '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
