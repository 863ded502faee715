/** The pages that the control plane renders itself: plain HTML and one style, without a script or a request to others. */
import { createHash } from 'node:crypto'
import { escapeHtml } from '../mail/index.ts'

/** The colours and the frame are those of the dashboard's sign-in. */
const style = `:root{color-scheme:light dark;font:93.75%/1.5 ui-sans-serif,system-ui,"Segoe UI",Roboto,sans-serif;
--page:#f7f8fa;--panel:#fff;--raised:#eff1f5;--line:#e0e4eb;--control:#858fa1;--ink:#151a23;--muted:#566176;--accent:#1d55d8;--on-accent:#fff;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--panel:#131922;--raised:#1c2430;--line:#28313e;--control:#66748a;--ink:#e6ebf2;--muted:#9aa7b8;--accent:#7aa7ff;--on-accent:#0b1526;--bad:#ff8a80}}
*{box-sizing:border-box}
body{display:grid;align-content:center;justify-content:center;grid-template-columns:minmax(0,30rem);min-height:100vh;margin:0;padding:1rem;background:var(--page);color:var(--ink);font-size:.9rem;overflow-wrap:anywhere}
main{padding:1.5rem;border:1px solid var(--line);border-radius:.75rem;background:var(--panel)}
h1{font-size:1.15rem;line-height:1.6rem;margin:0 0 1rem}
p{margin:0 0 1rem}
a{color:var(--accent)}
form{margin:0 0 1rem}
main>:last-child,form>:last-child{margin-bottom:0}
label{display:block;margin:0 0 1rem}
input{display:block;width:100%;height:2.25rem;margin-top:.25rem;padding:0 .6rem;font:inherit;color:inherit;border:1px solid var(--control);border-radius:.375rem;background:var(--panel)}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.4rem 1.25rem;margin:0 0 1rem}
dt{color:var(--muted)}
dd{margin:0}
.code{font:600 1.5rem/1.2 ui-monospace,monospace;letter-spacing:.1em}
input.code{height:3rem}
.problem{padding:.6rem .9rem;border:1px solid var(--bad);border-radius:.375rem;color:var(--bad)}
.note{margin-top:1.25rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--muted)}
.note p{margin-bottom:.5rem}
.row{display:flex;flex-wrap:wrap;gap:.5rem}
button{height:2.25rem;padding:0 .9rem;font:inherit;font-weight:500;border:1px solid var(--accent);border-radius:.375rem;background:var(--accent);color:var(--on-accent);cursor:pointer}
button:hover{filter:brightness(1.1)}
button.second{border-color:var(--control);background:var(--panel);color:var(--ink)}
button.wide{width:100%}
button:focus-visible,input:focus-visible,a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}`

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
