/**
 * Serves a folder of built web pages. Only files that were in the folder at the first request are served, by their name,
 * so no path leaves the folder. Files below `assets/` have a hash in their name and never change.
 */
import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { type PackedBody, packOnce } from './packed-body.ts'

export type BuiltPages = {
  /**
   * Returns the response to a GET of the path below the site's base, which begins with a slash. Undefined if the site has
   * no such file.
   */
  respond(path: string, headers: Headers): Promise<Response | undefined>
}

export type BuiltPagesOptions = {
  /** Folder of the built files. */
  folder: string
  /** Returns the Content-Security-Policy of an HTML page. `nonce` is new for each response. */
  policy(nonce: string): string
  /** Texts of the instance for HTML pages: each replaces its name between percent signs. */
  texts?: Readonly<Record<string, string>>
  /** The page for paths that name no file, of an application that reads the path itself. Only browsers get pages. */
  fallback?: string
}

type BuiltFile = {
  type: string
  isImmutable: boolean
  plain: Buffer<ArrayBuffer>
  bodyFor(headers: Headers): Promise<PackedBody>
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}
const packedTypes = /^(text|application\/json|image\/svg)/

/** Replaces `%NAME%` in a page by the text of that name. */
const fillIn = (page: string, texts: Readonly<Record<string, string>>): string =>
  Object.entries(texts).reduce((filled, [name, text]) => filled.replaceAll(`%${name}%`, text), page)

const readFiles = async (folder: string): Promise<ReadonlyMap<string, BuiltFile>> => {
  const files = new Map<string, BuiltFile>()
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  for (const name of names) {
    const type = types[extname(name)]
    const path = join(folder, name)
    if (!type || name.startsWith('.') || !(await stat(path)).isFile()) continue
    const plain = await readFile(path)
    files.set(`/${name}`, {
      type,
      isImmutable: name.startsWith('assets/'),
      plain,
      bodyFor: packedTypes.test(type) ? packOnce(plain) : async () => ({ body: plain }),
    })
  }
  return files
}

export function createBuiltPages({ folder, policy, texts, fallback }: BuiltPagesOptions): BuiltPages {
  let reading: Promise<ReadonlyMap<string, BuiltFile>> | undefined

  const find = async (path: string, headers: Headers): Promise<BuiltFile | undefined> => {
    reading ??= readFiles(folder)
    const files = await reading
    // Not built yet: the next request looks again.
    if (files.size === 0) reading = undefined
    const name = path.endsWith('/') ? `${path}index.html` : path
    const file = files.get(name)
    if (fallback === undefined || (file && !file.type.startsWith('text/html'))) return file
    // A program that asks for an unknown address wants the error, not a page.
    if (!headers.get('accept')?.includes('text/html')) return undefined
    return file ?? (extname(path) === '' ? files.get(fallback) : undefined)
  }

  return {
    respond: async (path, headers) => {
      const file = await find(path, headers)
      if (!file) return undefined
      if (file.type.startsWith('text/html')) {
        const nonce = randomBytes(16).toString('base64')
        return new Response(fillIn(file.plain.toString('utf8'), { ...texts, NONCE: nonce }), {
          headers: {
            'content-type': file.type,
            'cache-control': 'no-store',
            'content-security-policy': policy(nonce),
          },
        })
      }
      const { body, encoding } = await file.bodyFor(headers)
      return new Response(body, {
        headers: {
          'content-type': file.type,
          'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
          vary: 'accept-encoding',
          ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
        },
      })
    },
  }
}
