import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { ConnectionError, DockApiError } from '@dock/sdk'
import { readTextFile } from '../docks/sizes.ts'
import type { Command } from '../program/command.ts'
import { UsageError } from '../program/failures.ts'
import type { Input } from '../program/input.ts'

const pairOf = (flag: string, text: string, sign: string): [string, string] => {
  const at = text.indexOf(sign)
  if (at < 1) throw new UsageError(`--${flag} needs NAME${sign}VALUE, not ${JSON.stringify(text)}.`)
  return [text.slice(0, at), text.slice(at + 1).trimStart()]
}

/** Returns the address of the route. Its own query is kept, and fields of a GET are added to it. */
export function apiAddress(service: string, path: string, fields: readonly [string, string][]): URL {
  if (!path.startsWith('/') || path.startsWith('//'))
    throw new UsageError('PATH begins with a slash: /v1/docks')
  const base = new URL(service)
  const url = new URL(base.pathname.replace(/\/+$/, '') + path, base)
  // A key is sent to nobody else, whatever the path looks like.
  if (url.origin !== base.origin) throw new UsageError('PATH must be a path of the service.')
  for (const [name, value] of fields) url.searchParams.append(name, value)
  return url
}

const requestOf = async (input: Input) => {
  const fields = input.list('field').map((text) => pairOf('field', text, '='))
  const data = input.text('data')
  const method = (
    input.text('method') ?? (data !== undefined || fields.length > 0 ? 'POST' : 'GET')
  ).toUpperCase()
  const headers = new Headers(input.list('header').map((text) => pairOf('header', text, ':')))
  const isQuery = method === 'GET' || method === 'HEAD' || method === 'DELETE'
  let body: string | undefined
  if (data !== undefined) body = data.startsWith('@') ? await readTextFile(data.slice(1)) : data
  else if (!isQuery && fields.length > 0) body = JSON.stringify(Object.fromEntries(fields))
  if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
  return { method, headers, body, query: isQuery ? fields : [] }
}

/** Calls a route of the API. */
export const api: Command = {
  path: ['api'],
  summary: 'Call a route of the API and print its response',
  args: [{ name: 'PATH' }],
  flags: [
    { name: 'method', short: 'X', value: 'METHOD', about: 'without it GET, or POST if there is a body' },
    {
      name: 'field',
      short: 'f',
      value: 'NAME=VALUE',
      isMany: true,
      about: 'a text of the body, or of the query of a GET or DELETE',
    },
    { name: 'data', short: 'd', value: 'JSON', about: 'the body; @FILE reads a file, @- standard input' },
    { name: 'header', short: 'H', value: 'NAME:VALUE', isMany: true, about: 'a header' },
    { name: 'output', short: 'o', value: 'FILE', about: 'save the response' },
  ],
  examples: ["dock api '/v1/docks?all=true'", 'dock api /v1/docks/ID/stop -d {}'],
  async run(context, input) {
    const { url: service, apiKey } = await context.connection()
    const { method, headers, body, query } = await requestOf(input)
    const url = apiAddress(service, input.arg('PATH'), query)
    headers.set('authorization', `Bearer ${apiKey}`)
    const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) }).catch(
      (error: unknown) => {
        throw new ConnectionError(`${service} cannot be reached, or the connection broke.`, error)
      },
    )
    if (!response.ok) {
      const failure = (await response.json().catch(() => ({}))) as { code?: string; message?: string }
      const message = failure.message ?? `The response has the status ${response.status}.`
      throw new DockApiError(failure.code ?? 'bad_response', response.status, message)
    }
    if (!response.body) return
    const file = input.text('output')
    if (file !== undefined) return pipeline(response.body, createWriteStream(file))
    await pipeline(response.body, process.stdout, { end: false })
    if (process.stdout.isTTY) process.stdout.write('\n')
  },
}
