/** Tools that read Snapshots, which also work while the Dock is stopped. */
import type { Client } from '@dock/sdk'
import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { addTool, dockInput, findDock } from '../add-tool.ts'
import { readSome } from '../clip.ts'
import { dataCharactersMax, toolResult } from '../tool-result.ts'
import { quoted } from '../visible-text.ts'
import { fileResult } from './file-result.ts'
import { pageOfLines } from './page-of-lines.ts'

const pageLimit = 50

export function addSnapshotTools(server: McpServer, client: Client): void {
  addTool(
    server,
    'list_snapshots',
    {
      title: 'List Snapshots',
      description: 'Lists the Snapshots of a Dock, or of all Docks, newest first.',
      input: z.strictObject({
        dock: dockInput.optional(),
        cursor: z.string().min(1).max(2048).optional().describe('From the previous call'),
      }),
      readOnly: true,
    },
    async ({ dock, cursor }, signal) => {
      const query = { limit: pageLimit, cursor }
      const { snapshots, nextCursor } =
        dock === undefined
          ? await client.call('listSnapshots', { query, signal })
          : await client.call('listDockSnapshots', {
              params: { id: (await findDock(client, dock, signal)).id },
              query,
              signal,
            })
      const lines = snapshots.map(
        ({ id, dockId, status, sizeBytes, createdAt }) =>
          `id=${id} dock=${dockId} status=${status} bytes=${sizeBytes} createdAt=${createdAt}`,
      )
      const more = nextCursor === null ? '' : ` Read on with cursor: ${nextCursor}`
      return toolResult(`${lines.length} Snapshots.${more}`, lines.join('\n'))
    },
  )
  addTool(
    server,
    'read_snapshot_file',
    {
      title: 'Read a file of a Snapshot',
      description:
        'Returns a part of a text file of a Snapshot, from a byte offset on. Without a path it lists paths of files; prefix and skip choose which.',
      input: z.strictObject({
        snapshot: z.uuid().describe('The id of the Snapshot'),
        path: z.string().min(1).max(4096).optional().describe('A path as it was listed'),
        offset: z.int().min(0).default(0),
        prefix: z.string().max(4096).default('').describe('Lists only paths that begin with it'),
        skip: z.int().min(0).default(0).describe('How many paths to leave out'),
      }),
      readOnly: true,
    },
    async ({ snapshot, path, offset, prefix, skip }, signal) => {
      const params = { id: snapshot }
      if (path !== undefined) {
        const response = await client.open('readSnapshotFile', { params, query: { path }, signal })
        const length = response.headers.get('content-length')
        const { bytes, isEnd } = await readSome(response, dataCharactersMax, offset)
        const size = length === null ? (isEnd ? offset + bytes.length : null) : Number(length)
        return fileResult(bytes, { offset, size })
      }
      const { files } = await client.call('readSnapshotTree', { params, signal })
      const found = files.filter((file) => file.path.startsWith(prefix))
      const lines = found.slice(skip).map((file) => `${file.size} ${quoted(file.path)}`)
      const { text, count } = pageOfLines(lines, dataCharactersMax)
      const next = skip + count
      const more = next < found.length ? ` Read on with skip: ${next}.` : ''
      return toolResult(`${found.length} files; ${count} of them follow, each with its bytes.${more}`, text)
    },
  )
}
