/** Tools that read, write and list files of a running Dock. */
import { type Client, type FileEntry, hasCode } from '@dock/sdk'
import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { addTool, dockInput, findDock, pathInput } from '../add-tool.ts'
import { dataCharactersMax, toolResult } from '../tool-result.ts'
import { quoted } from '../visible-text.ts'
import { fileResult } from './file-result.ts'

const pageMax = 200
const contentCharactersMax = 1_000_000

const absolute = (path: string): string =>
  path.startsWith('/') ? path : `/home/user/work/${path.replace(/^\.\/?/, '')}`

const lineOf = ({ name, type, size, mode, modifiedAt, target }: FileEntry): string =>
  `${type} ${mode} ${size} ${modifiedAt} ${quoted(name)}${target === null ? '' : ` -> ${quoted(target)}`}`

export function addFileTools(server: McpServer, client: Client): void {
  addTool(
    server,
    'read_file',
    {
      title: 'Read a file',
      description: 'Returns a part of a text file of a running Dock, from a byte offset on.',
      input: z.strictObject({ dock: dockInput, path: pathInput, offset: z.int().min(0).default(0) }),
      readOnly: true,
    },
    async ({ dock, path, offset }, signal) => {
      const { files } = await findDock(client, dock, signal)
      const { size } = await files.stat(path, { signal })
      const end = Math.min(offset + dataCharactersMax, size)
      // Files of /proc have no size.
      const range = size === 0 ? {} : { start: Math.min(offset, end), end }
      const bytes = await files.read(path, { ...range, signal })
      return fileResult(bytes, { offset: Math.min(offset, size), size: Math.max(size, bytes.length) })
    },
  )
  addTool(
    server,
    'write_file',
    {
      title: 'Write a file',
      description:
        'Writes a text file in a running Dock, whole or not at all. Missing folders are made, and an existing file is replaced.',
      input: z.strictObject({
        dock: dockInput,
        path: pathInput,
        content: z.string().max(contentCharactersMax),
        mode: z
          .string()
          .regex(/^[0-7]{3,4}$/)
          .optional()
          .describe('Permissions in octal, such as 755'),
      }),
      destructive: true,
    },
    async ({ dock, path, content, mode }, signal) => {
      const { files } = await findDock(client, dock, signal)
      const write = () => files.write(path, content, { mode, signal })
      const entry = await write().catch(async (error: unknown) => {
        if (!hasCode(error, 'not_found') || !path.includes('/')) throw error
        await files.mkdir(path.replace(/[^/]*$/, ''), { signal })
        return write()
      })
      return toolResult(`Wrote ${entry.size} bytes to ${quoted(path)}`)
    },
  )
  addTool(
    server,
    'list_files',
    {
      title: 'List files',
      description: 'Lists a folder of a running Dock: type, mode, size, time and name of each entry.',
      input: z.strictObject({
        dock: dockInput,
        path: pathInput.default('.'),
        cursor: z.string().min(1).max(2048).optional().describe('From the previous call'),
      }),
      readOnly: true,
    },
    async ({ dock, path, cursor }, signal) => {
      const { id } = await findDock(client, dock, signal)
      // Names can be long, so a page that does not fit is asked for again, shorter.
      for (let limit = pageMax; ; limit = Math.floor(limit / 4)) {
        const query = { path: absolute(path), limit, cursor }
        const page = await client.call('listDockFiles', { params: { id }, query, signal })
        const text = page.entries.map(lineOf).join('\n')
        if (text.length > dataCharactersMax && limit >= 4) continue
        const more = page.nextCursor === null ? '' : ` Read on with cursor: ${page.nextCursor}`
        const what = page.entry.type === 'folder' ? `${page.entries.length} entries.` : 'Not a folder.'
        return toolResult(`${what}${more}`, text === '' ? lineOf(page.entry) : text)
      }
    },
  )
}
