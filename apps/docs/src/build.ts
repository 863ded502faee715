/**
 * Builds the site into a folder: `node apps/docs/src/build.ts FOLDER`. Each file has a compressed copy beside it, and
 * `manifest.json` lists them with their types and tags, so the server reads no other name.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import Eleventy from '@11ty/eleventy'
import { type Group, guideGroups } from './guides.ts'
import { html } from './html.ts'
import { type Assets, layout, type Page } from './layout.ts'
import { createMarkdown } from './markdown.ts'
import { referencePages } from './reference/reference-pages.ts'
import { searchIndex } from './search-index.ts'

type ManifestEntry = { type: string; tag: string; immutable: boolean }

const root = resolve(import.meta.dirname, '../../..')

const listPage = (title: string, text: string, groups: readonly Group[]): string =>
  html`<h1>${title}</h1><p>${text}</p>${groups.map(
    (group) =>
      html`${group.title === '' ? '' : html`<h2>${group.title}</h2>`}<ul class="pages">${group.links.map(({ title: name, url }) => html`<li><a href="${url}">${name}</a></li>`)}</ul>`,
  )}`.text

/** Renders the guides and the virtual pages. Eleventy writes no file. */
const renderPages = async (virtual: ReadonlyMap<string, string>): Promise<Page[]> => {
  process.chdir(root)
  const site = new Eleventy('docs', '.tools/docs', {
    quietMode: true,
    config: (config) => {
      config.setLibrary('md', createMarkdown())
      for (const [path, content] of virtual) config.addTemplate(path, content)
      return { markdownTemplateEngine: false, htmlTemplateEngine: false, templateFormats: ['md', 'html'] }
    },
  })
  const rendered: { url: string; content: string }[] = await site.toJSON()
  return rendered.map(({ url, content }) => ({
    // The README of a folder is the page of that folder, as on GitHub.
    url: `/docs${url.replace(/\/README\/$/, '/')}`,
    content,
    title: (/<h1[^>]*>(.*?)<\/h1>/s.exec(content)?.[1] ?? 'Dock').replaceAll(/<[^>]+>/g, ''),
  }))
}

const hashOf = (content: string): string => createHash('sha256').update(content).digest('hex').slice(0, 16)

/** Writes files and remembers them for the manifest. */
const createWriter = (folder: string) => {
  const manifest: Record<string, ManifestEntry> = {}
  const write = (name: string, type: string, content: string, immutable = false): void => {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    writeFileSync(
      `${path}.br`,
      brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    )
    writeFileSync(`${path}.gz`, gzipSync(content))
    manifest[name] = { type, tag: hashOf(content), immutable }
  }
  return { manifest, write }
}

const build = async (folder: string): Promise<void> => {
  const { guides, operate, contribute } = guideGroups(root)
  const reference = referencePages()
  const groups = [guides, reference.group, operate, contribute]
  const virtual = new Map([
    ...reference.pages,
    [
      'index.html',
      listPage(
        'Dock',
        'Isolated Linux machines on demand. What you can do with them, how to call them, and how to run them.',
        groups,
      ),
    ],
    ['404.html', '<h1>There is no such page</h1><p>Search, or choose a page from the menu.</p>'],
  ])
  const pages = await renderPages(virtual)
  rmSync(folder, { recursive: true, force: true })
  const { manifest, write } = createWriter(folder)
  const asset = (name: string, ending: string, type: string, content: string): string => {
    const hashed = `assets/${name}-${hashOf(content)}.${ending}`
    write(hashed, type, content, true)
    return `/docs/${hashed}`
  }
  const source = (name: string): string => readFileSync(join(import.meta.dirname, 'assets', name), 'utf8')
  const library = createRequire(import.meta.url)
    .resolve('minisearch')
    .replace(/dist\/.*$/, 'dist/es/index.js')
  const minisearch = asset(
    'minisearch',
    'js',
    'text/javascript; charset=utf-8',
    readFileSync(library, 'utf8').replace(/\n\/\/# sourceMappingURL=.*/, ''),
  )
  const assets: Assets = {
    style: asset('site', 'css', 'text/css; charset=utf-8', source('site.css')),
    script: asset(
      'site',
      'js',
      'text/javascript; charset=utf-8',
      source('site.js').replace("from 'minisearch'", `from '${minisearch}'`),
    ),
    search: asset(
      'search',
      'json',
      'application/json; charset=utf-8',
      searchIndex(pages.filter(({ url }) => !url.startsWith('/docs/404'))),
    ),
  }
  for (const page of pages) {
    const name = `${page.url.slice('/docs/'.length)}index.html`
    write(
      page.url.startsWith('/docs/404') ? '404.html' : name,
      'text/html; charset=utf-8',
      layout(page, groups, assets),
    )
  }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
}

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: node apps/docs/src/build.ts FOLDER')
await build(resolve(folder))
