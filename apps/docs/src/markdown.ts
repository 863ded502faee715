/** Renders the guides: headings with anchors, highlighted code without inline styles, links between the guides. */
import { createRequire } from 'node:module'
import { posix } from 'node:path'
import MarkdownIt from 'markdown-it'
import { escapeText } from './html.ts'

type Highlighter = {
  getLanguage(name: string): object | undefined
  highlight(code: string, options: { language: string }): { value: string }
}
// Its types would add those of browsers to every program of the repository.
const hljs = createRequire(import.meta.url)('highlight.js/lib/common') as Highlighter

export const base = '/docs/'

/** Turns the text of a heading into the anchor that GitHub would give it, so links work in both places. */
export function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}

/** Highlights code. Languages without rules stay plain. */
export function highlight(code: string, language: string): string {
  return hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : escapeText(code)
}

/**
 * Returns the address of a link in the guide `from` (a path below docs/). A link to a file that the site does not have is
 * null.
 */
export function addressOf(from: string, link: string): string | null {
  if (/^[a-z]+:/i.test(link) || link.startsWith('#')) return link
  const [path = '', anchor] = link.split('#')
  const target = posix.normalize(posix.join(posix.dirname(from), path))
  if (target.startsWith('..') || !/(\.md|\/|^[^.]*)$/.test(target)) return null
  const page = target
    .replace(/(^|\/)README\.md$/, '$1')
    .replace(/\.md$/, '')
    .replace(/\/$/, '')
  return `${base}${page === '.' ? '' : `${page}/`}${anchor === undefined ? '' : `#${anchor}`}`
}

const longCode = 28

/** Creates the renderer. The environment of a page has `page.inputPath`, as Eleventy gives it. */
export function createMarkdown(): MarkdownIt {
  const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false })
  const { rules } = markdown.renderer
  rules.fence = (tokens, index) => {
    const token = tokens[index]
    const language = token?.info.trim().split(/\s/)[0] ?? ''
    const code = `<pre tabindex="0"><code class="hljs">${highlight(token?.content ?? '', language)}</code></pre>\n`
    // A diagram would need a program of 2 MB and inline styles. Its source reads well.
    return language === 'mermaid'
      ? `<figure>${code}<figcaption>Diagram, in the language of Mermaid</figcaption></figure>\n`
      : code
  }
  rules.code_inline = (tokens, index) => {
    const content = tokens[index]?.content ?? ''
    return `<code${content.length > longCode ? ' class="long"' : ''}>${escapeText(content)}</code>`
  }
  rules.table_open = () => '<div class="table" tabindex="0"><table>\n'
  rules.table_close = () => '</table></div>\n'
  markdown.core.ruler.push('anchors', ({ tokens }) => {
    const taken = new Map<string, number>()
    for (const [index, token] of tokens.entries()) {
      if (token.type !== 'heading_open') continue
      const anchor = anchorOf(tokens[index + 1]?.content.replaceAll('`', '') ?? '')
      const times = taken.get(anchor) ?? 0
      taken.set(anchor, times + 1)
      token.attrSet('id', times === 0 ? anchor : `${anchor}-${times}`)
    }
  })
  markdown.core.ruler.push('links', ({ tokens, env }) => {
    const from = String(env?.page?.inputPath ?? '').replace(/^\.?\/?docs\//, '')
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== 'link_open') continue
      const address = addressOf(from, token.attrGet('href') ?? '')
      if (address === null) token.attrs = [['class', 'source']]
      else token.attrSet('href', address)
    }
  })
  return markdown
}
