/** The pages that the control plane renders itself: plain HTML and one style, without a script or a request to others. */
import { createHash } from 'node:crypto'
import { escapeHtml } from '../mail/index.ts'

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{display:grid;place-content:center;min-height:90vh;margin:0;padding:1.5rem}
main{max-width:32rem}
h1{font-size:1.4rem;margin:0 0 .5rem}
p{margin:0 0 1rem}
form{margin:0 0 1rem}
label{display:block;margin:0 0 .75rem}
input{display:block;box-sizing:border-box;width:100%;font:inherit;padding:.6rem .75rem;border:1px solid #888;border-radius:.5rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.4rem 1rem;margin:0 0 1rem}
dt{opacity:.75}
dd{margin:0;overflow-wrap:anywhere}
.code{font:600 1.6rem/1.2 ui-monospace,monospace;letter-spacing:.1em}
.problem{padding:.6rem .75rem;border-left:4px solid #b91c1c}
.row{display:flex;flex-wrap:wrap;gap:.75rem}
button{font:inherit;font-weight:600;padding:.75rem 1.25rem;border:2px solid #1d4ed8;border-radius:.5rem;background:#1d4ed8;color:#fff;cursor:pointer}
button.second{background:transparent;color:inherit}
button:focus-visible,input:focus-visible{outline:3px solid #93c5fd;outline-offset:2px}`

const styleHash = createHash('sha256').update(style).digest('base64')

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  // Without a referrer, browsers send `Origin: null` with a form, and the check against forged requests refuses it.
  'referrer-policy': 'same-origin',
}

/** HTML that is safe to send. {@link html} makes it, and escapes every text in it. */
export type Html = { html: string }

/** Joins HTML. Texts among the values are escaped; lists of HTML are joined; undefined and false are left out. */
export function html(
  parts: TemplateStringsArray,
  ...values: (string | Html | readonly Html[] | undefined | false)[]
): Html {
  const textOf = (value: (typeof values)[number]): string => {
    if (value === undefined || value === false) return ''
    if (typeof value === 'string') return escapeHtml(value)
    return 'html' in value ? value.html : value.map((each) => each.html).join('')
  }
  return { html: parts.map((part, index) => part + textOf(values[index])).join('') }
}

/** Returns a page with a heading, which is also its title, and a body. */
export function htmlPage(status: number, title: string, body: Html): Response {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ html: style }}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
  return new Response(page.html, { status, headers })
}
