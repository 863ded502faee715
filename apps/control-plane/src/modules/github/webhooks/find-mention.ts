/**
 * Finds a mention of the App in Markdown, as a person meant it: outside quotes, code, links and HTML that shows either.
 * Reads each character a fixed number of times: parsers of Markdown need half a minute for some texts of 64 KiB. Where it
 * is unsure, it finds no mention.
 */

/** HTML elements whose content is quoted, code, or withdrawn, and the marks of a comment. */
const htmlMark =
  /<!--|-->|<(\/?)(?:blockquote|code|pre|q|del|s|strike|kbd|samp|tt|template|script|style)\b[^<>]*>/gi
const links = /!?\[[^[\]]*\](?:\([^()]*\)|\[[^[\]]*\])/g
const withdrawn = /~~[^~]*~~/g
const listMarker = /^ {0,3}(?:[-*+]|\d{1,9}[.)]) {1,4}/
const listDepthMax = 10

const patternOf = (slug: string): RegExp =>
  new RegExp(`(?<![\\w@/.~\`-])@${slug.replace(/[^a-z0-9-]/gi, '')}(?![\\w/-]|\\.\\w)`, 'i')

/** Returns true if the text may mention the App. It is asked before anybody's permission is. */
export function mayMention(text: string, slug: string): boolean {
  return text.toLowerCase().includes(`@${slug.toLowerCase()}`)
}

const withoutListMarkers = (line: string): string => {
  let rest = line
  for (let depth = 0; depth < listDepthMax && listMarker.test(rest); depth += 1)
    rest = rest.replace(listMarker, '')
  return rest
}

/** Returns the paragraphs: the text outside quotes and blocks of code. */
const paragraphsOf = (markdown: string): string[] => {
  const paragraphs: string[] = []
  let lines: string[] = []
  let fence: string | null = null
  let isInQuote = false
  const end = (): void => {
    if (lines.length > 0) paragraphs.push(lines.join('\n'))
    lines = []
  }
  for (const line of markdown.replaceAll('\t', '    ').split(/\r\n|\n|\r/)) {
    const rest = withoutListMarkers(line)
    const [marks] = /^ *(?:`{3,}|~{3,})/.exec(rest) ?? []
    if (fence !== null) {
      if (marks?.trim().startsWith(fence) && rest.trim() === marks.trim()) fence = null
    } else if (rest.trim() === '') {
      end()
      isInQuote = false
    } else if (/^ *>/.test(rest)) {
      end()
      isInQuote = true
    } else if (marks !== undefined) {
      end()
      fence = marks.trim()
    } else if (!isInQuote && (lines.length > 0 || !rest.startsWith('    '))) lines.push(rest)
    // A line without a mark continues the quote above it.
  }
  end()
  return paragraphs
}

/** Replaces spans of code: from a run of backticks to the next run of the same length. */
const withoutCode = (text: string): string => {
  const runs = [...text.matchAll(/\\`|`+/g)].filter(([run]) => !run.startsWith('\\'))
  const lastOfLength = new Map<number, number>()
  /** For each run, the next one of the same length. */
  const next = new Array<number | undefined>(runs.length)
  for (let index = runs.length - 1; index >= 0; index -= 1) {
    const { length } = runs[index]![0]
    next[index] = lastOfLength.get(length)
    lastOfLength.set(length, index)
  }
  let kept = ''
  let at = 0
  for (let index = 0; index < runs.length; index += 1) {
    const closing = next[index]
    if (closing === undefined) continue
    kept += `${text.slice(at, runs[index]!.index)} \` `
    at = runs[closing]!.index + runs[closing]![0].length
    index = closing
  }
  return kept + text.slice(at)
}

/** Returns true if the author of the Markdown mentions the App. */
export function mentions(markdown: string, slug: string): boolean {
  if (!mayMention(markdown, slug)) return false
  const pattern = patternOf(slug)
  /** HTML that is open. It may begin in one paragraph and end in another. */
  let open = 0
  let isInComment = false
  return paragraphsOf(markdown).some((paragraph) => {
    let shown = ''
    let at = 0
    const text = withoutCode(paragraph)
    for (const mark of text.matchAll(htmlMark)) {
      if (open === 0 && !isInComment) shown += `${text.slice(at, mark.index)} `
      at = mark.index + mark[0].length
      if (mark[0] === '<!--') isInComment = true
      else if (mark[0] === '-->') isInComment = false
      else if (!isInComment) open = Math.max(0, open + (mark[1] ? -1 : 1))
    }
    if (open === 0 && !isInComment) shown += text.slice(at)
    return pattern.test(shown.replace(links, ' ').replace(withdrawn, ' '))
  })
}

/** Returns true if the mention asks for nothing but to stop. */
export function asksToStop(markdown: string, slug: string): boolean {
  return /^[\s,:.!]*stop[\s.!]*$/i.test(markdown.replace(patternOf(slug), ''))
}
