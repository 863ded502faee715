/** A provider of models that answers every request alike, and says that it was expensive. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export type ModelServer = {
  url: string
  asked: { authorization: string | undefined; path: string; answeredAt: number }[]
  /** What a request costs with the price of gpt-5. */
  requestUsd: number
  close(): void
}

/** Requests must allow this many tokens: a provider keeps to their limit. */
export const outputTokens = 30_000
const usage = { prompt_tokens: 100, completion_tokens: outputTokens }
const answerMs = 200

export async function startModelServer(): Promise<ModelServer> {
  const asked: ModelServer['asked'] = []
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    await delay(answerMs)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'Done.' } }], usage }))
    asked.push({
      ...{ authorization: request.headers.authorization, path: request.url ?? '', answeredAt: Date.now() },
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked },
    requestUsd: (usage.prompt_tokens * 1.25 + usage.completion_tokens * 10) / 1e6,
    close: () => void server.close(),
  }
}
