/**
 * The documentation under /docs, which script/install/docs builds from apps/docs. Only names of its manifest are read.
 * Everything on a page comes from this server, and no text becomes HTML or a script.
 */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context, Hono } from 'hono'
import type { HttpEnvironment } from './request-context.ts'

type Entry = { type: string; tag: string; immutable: boolean }
type Manifest = ReadonlyMap<string, Entry>

const route = '/docs/*'
const policy = [
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'",
  "frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  "require-trusted-types-for 'script'; trusted-types 'none'",
].join('; ')

const notBuilt = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>The documentation is not built</title>
<h1>The documentation is not built</h1>
<p>On the machine that runs Dock, run <code>script/install/docs</code>, then reload this page. The API is described at
<a href="/openapi.json">/openapi.json</a>.</p></html>
`

/** Reads the manifest, and again when it was built again. */
const createManifestReader = (folder: string): (() => Promise<Manifest | undefined>) => {
  let known: { time: number; manifest: Manifest } | undefined
  return async () => {
    const path = join(folder, 'manifest.json')
    try {
      const { mtimeMs } = await stat(path)
      if (known?.time !== mtimeMs) {
        const entries = JSON.parse(await readFile(path, 'utf8')) as Record<string, Entry>
        known = { time: mtimeMs, manifest: new Map(Object.entries(entries)) }
      }
      return known.manifest
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }
}

const codings = { br: '.br', gzip: '.gz' } as const

/** Returns the coding to send: the smallest that the request accepts. */
const codingOf = (accepted: string): keyof typeof codings | undefined => {
  const names = accepted.split(',').map((each) => each.trim().toLowerCase())
  const accepts = (name: string): boolean =>
    names.some((each) => each === name || (each.startsWith(`${name};`) && !/;\s*q=0(\.0*)?$/.test(each)))
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : undefined
}

const send = async (
  context: Context<HttpEnvironment>,
  folder: string,
  name: string,
  entry: Entry,
  status: 200 | 404 = 200,
): Promise<Response> => {
  const coding = codingOf(context.req.header('accept-encoding') ?? '')
  const tag = `"${entry.tag}${coding ? `-${coding}` : ''}"`
  const headers = {
    'content-type': entry.type,
    'content-security-policy': policy,
    'cache-control': entry.immutable ? 'public, max-age=31536000, immutable' : 'public, no-cache',
    etag: tag,
    vary: 'accept-encoding',
  }
  if (status === 200 && context.req.header('if-none-match') === tag) return context.body(null, 304, headers)
  const bytes = await readFile(join(folder, `${name}${coding ? codings[coding] : ''}`))
  return context.body(new Uint8Array(bytes), status, {
    ...headers,
    ...(coding ? { 'content-encoding': coding } : {}),
  })
}

/** Serves the site that was built into `folder`. Without it, every page says how to build it. */
export function addDocsSite(app: Hono<HttpEnvironment>, folder: string): void {
  const readManifest = createManifestReader(folder)
  app.get('/docs', (context) => {
    context.set('route', route)
    return context.redirect('/docs/', 301)
  })
  app.get(route, async (context) => {
    context.set('route', route)
    const manifest = await readManifest()
    if (!manifest)
      return context.body(notBuilt, 503, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
        'cache-control': 'no-store',
      })
    const path = context.req.path.slice('/docs/'.length)
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : path
    const entry = manifest.get(name)
    if (entry) return send(context, folder, name, entry)
    if (manifest.has(`${path}/index.html`)) return context.redirect(`/docs/${path}/`, 301)
    const missing = manifest.get('404.html')
    return missing ? send(context, folder, '404.html', missing, 404) : context.notFound()
  })
}
