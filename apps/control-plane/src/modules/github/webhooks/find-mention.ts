/** Finds a mention of the App in Markdown, as a person meant it: outside quotes, code, links and HTML that shows either. */
import { fromMarkdown } from 'mdast-util-from-markdown'

type Tree = ReturnType<typeof fromMarkdown>
type Node = Tree | Tree['children'][number]

/** Text in these parts is quoted, or is no text of the author. */
const skipped = new Set(['blockquote', 'code', 'inlineCode', 'link', 'linkReference', 'definition', 'image'])
/** HTML elements whose content is quoted, code, or withdrawn. */
const quoting = /<(\/?)(blockquote|code|pre|q|del|s|kbd|samp|tt|template|script|style)\b[^>]*?(\/?)>/gi

const patternOf = (slug: string): RegExp =>
  new RegExp(`(?<![\\w@/.~\`-])@${slug.replace(/[^a-z0-9-]/gi, '')}(?![\\w/-]|\\.\\w)`, 'i')

/** Returns true if the text may mention the App. Cheap: it is asked before anybody's permission is. */
export function mayMention(text: string, slug: string): boolean {
  return text.toLowerCase().includes(`@${slug.toLowerCase()}`)
}

/** Returns true if the author of the Markdown mentions the App. */
export function mentions(markdown: string, slug: string): boolean {
  if (!mayMention(markdown, slug)) return false
  const pattern = patternOf(slug)
  /** Open HTML elements that quote. They may begin in one part of the text and end in another. */
  let open = 0
  const visit = (node: Node): boolean => {
    if (skipped.has(node.type)) return false
    if (node.type === 'html') {
      for (const [, closing, , isEmpty] of node.value.matchAll(quoting))
        if (!isEmpty) open = Math.max(0, open + (closing ? -1 : 1))
      return false
    }
    if (node.type === 'text') return open === 0 && pattern.test(node.value)
    return 'children' in node && node.children.some(visit)
  }
  return visit(fromMarkdown(markdown))
}

/** Returns true if the mention asks for nothing but to stop. */
export function asksToStop(markdown: string, slug: string): boolean {
  return /^[\s,:.!]*stop[\s.!]*$/i.test(markdown.replace(patternOf(slug), ''))
}
