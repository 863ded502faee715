/** Serves the pump's requests. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Pump } from './pump.ts'
import { type ProgramEnd, takeProgram } from './pump-protocol.ts'

const bodyBytesMax = 65_536

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk
    if (text.length > bodyBytesMax) throw new Error('the body is too long')
  }
  return JSON.parse(text)
}

/** `onUse` is called with 1 when a request begins, and with -1 when it ends. `onEnd` is called when the pump is told to end. */
export function createPumpServer(pump: Pump, onUse: (by: 1 | -1) => void, onEnd: () => void): Server {
  /** The response begins at once, so that the caller knows that the pump has the program. */
  const sendEnd = async (
    response: ServerResponse,
    machine: string,
    program: number,
    ended: Promise<ProgramEnd>,
  ): Promise<void> => {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    const end = await ended
    // A caller that died meanwhile has not heard it.
    response.once('finish', () => pump.markTold(machine, program))
    response.end(JSON.stringify(end))
  }
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = '' } = request
    const [, folder, machine = '', program = ''] = url.split('/')
    if (method === 'GET' && url === '/') return void response.end('{}')
    if (method === 'POST' && url === '/end') return void response.end('{}', onEnd)
    if (method === 'POST' && url === '/programs') {
      const wanted = takeProgram.parse(await readBody(request))
      const { ended } = await pump.take(wanted)
      return await sendEnd(response, wanted.machine, wanted.program, ended)
    }
    const ended = method === 'GET' && folder === 'programs' ? pump.endOf(machine, Number(program)) : undefined
    if (!ended) return void response.writeHead(404).end()
    await sendEnd(response, machine, Number(program), ended)
  }
  return createServer((request, response) => {
    onUse(1)
    response.once('close', () => onUse(-1))
    serve(request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy()
      else response.writeHead(500).end(error.message)
    })
  })
}
