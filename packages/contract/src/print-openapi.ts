/**
 * Prints the OpenAPI document without a server: `node packages/contract/src/print-openapi.ts [https://address]`. The same
 * document as `GET /openapi.json`, indented.
 */
import { openApiDocument } from './openapi.ts'

const [serverUrl] = process.argv.slice(2)
const document = openApiDocument(serverUrl === undefined ? {} : { serverUrl })
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
