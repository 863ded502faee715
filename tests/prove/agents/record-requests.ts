/** A server that keeps every request in a file: record-requests.ts ADDRESS PORT FILE. */
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [address, port, file] = process.argv.slice(2)

createServer(async (request, response) => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const { method, url, headers } = request
  const body = Buffer.concat(pieces).toString('utf8')
  appendFileSync(file!, `${JSON.stringify({ method, url, headers, body })}\n`)
  response.end('{}')
}).listen(Number(port), address, () => process.stdout.write('ready\n'))
