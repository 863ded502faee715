/** The one template of all mails: plain text, and HTML that loads nothing from elsewhere. */
import type { Row } from '../database/database.ts'
import { escapeHtml } from './escape-html.ts'
import type { UnsubscribeLink } from './mail.ts'

/** Name and address of this instance, as its people know them. */
export type Instance = {
  /** `dock.example.com` */
  name: string
  /** Base URL of the pages that mails link to. */
  appUrl: string
}

export type RenderedMail = {
  subject: string
  text: string
  html: string
  unsubscribeUrl?: string
}

export type MailContent = Pick<
  Row<'outbox_mails'>,
  'subject' | 'body' | 'link' | 'link_label' | 'organization_name' | 'gathered'
>

/** Returns the instance as mails name it. */
export function instanceOf(appUrl: string): Instance {
  return { name: new URL(appUrl).host, appUrl }
}

const itemsShown = 20

/** One line. Names that people chose cannot imitate other parts of the mail. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

type Said = {
  title: string
  paragraphs: string[]
  items: string[]
  link: { label: string; url: string } | null
}

const say = (mail: MailContent, instance: Instance): Said => {
  const many = mail.gathered && mail.gathered.items.length > 1 ? mail.gathered : null
  const items = many?.items ?? []
  const target = many?.link ?? mail.link
  const hidden = items.length - itemsShown
  return {
    title: oneLine(many ? many.title.replace('{count}', String(items.length)) : mail.subject),
    paragraphs: (many?.body ?? mail.body)
      .trim()
      .split(/\n{2,}/)
      .filter((each) => each !== ''),
    items: [...items.slice(0, itemsShown).map(oneLine), ...(hidden > 0 ? [`${hidden} more`] : [])],
    link:
      target === null
        ? null
        : {
            label: many?.linkLabel ?? mail.link_label ?? 'Open',
            url: target.startsWith('/') ? `${instance.appUrl}${target}` : target,
          },
  }
}

const footerLines = (place: string, unsubscribe: UnsubscribeLink | null): string[] => [
  `Sent by Dock for ${place}.`,
  ...(unsubscribe ? [`Dock mails you when ${unsubscribe.when}.`] : []),
]

const renderText = (said: Said, place: string, unsubscribe: UnsubscribeLink | null): string =>
  `${[
    said.title,
    ...said.paragraphs,
    ...(said.items.length > 0 ? [said.items.map((item) => `- ${item}`).join('\n')] : []),
    ...(said.link ? [`${said.link.label}:\n${said.link.url}`] : []),
    [
      '-- ',
      ...footerLines(place, unsubscribe),
      ...(unsubscribe ? [`Send no more of these mails:\n${unsubscribe.url}`] : []),
    ].join('\n'),
  ].join('\n\n')}\n`

// Mail programs ignore much of CSS. What matters is inline; the style element only adds the dark colours.
const style = {
  page: 'margin:0;padding:24px 12px;background:#f3f4f6;color:#1f2937;font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;overflow-wrap:anywhere',
  card: 'max-width:560px;margin:0 auto;padding:28px;background:#ffffff;border-radius:10px',
  place: 'margin:0 0 16px;font-size:14px;color:#4b5563',
  title: 'margin:0 0 16px;font-size:22px;line-height:1.3;font-weight:600',
  paragraph: 'margin:0 0 16px',
  list: 'margin:0 0 16px;padding-left:24px',
  link: 'display:inline-block;margin:8px 0;padding:12px 20px;border-radius:8px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none',
  footer: 'max-width:560px;margin:16px auto 0;padding:0 28px;font-size:13px;color:#4b5563',
  small: 'margin:0 0 8px',
  quiet: 'color:#1d4ed8',
}
const dark = `@media (prefers-color-scheme:dark){
.page{background:#111827!important;color:#f3f4f6!important}
.card{background:#1f2937!important}
.place,.footer{color:#d1d5db!important}
.quiet{color:#93c5fd!important}}`

const renderHtml = (said: Said, place: string, unsubscribe: UnsubscribeLink | null): string => {
  const paragraph = (text: string): string =>
    `<p style="${style.paragraph}">${escapeHtml(text).replaceAll('\n', '<br>')}</p>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(said.title)}</title>
<style>
:root{color-scheme:light dark}
${dark}
</style>
</head>
<body class="page" style="${style.page}">
<main class="card" style="${style.card}">
<p class="place" style="${style.place}">${escapeHtml(place)}</p>
<h1 style="${style.title}">${escapeHtml(said.title)}</h1>
${said.paragraphs.map(paragraph).join('\n')}
${said.items.length > 0 ? `<ul style="${style.list}">\n${said.items.map((item) => `<li>${escapeHtml(item)}</li>`).join('\n')}\n</ul>` : ''}
${said.link ? `<p style="margin:0"><a href="${escapeHtml(said.link.url)}" style="${style.link}">${escapeHtml(said.link.label)}</a></p>` : ''}
</main>
<footer class="footer" style="${style.footer}">
${footerLines(place, unsubscribe)
  .map((line) => `<p style="${style.small}">${escapeHtml(line)}</p>`)
  .join('\n')}
${unsubscribe ? `<p style="${style.small}"><a class="quiet" style="${style.quiet}" href="${escapeHtml(unsubscribe.url)}">Send no more of these mails</a></p>` : ''}
</footer>
</body>
</html>
`
}

/** Renders a row of the outbox. Mails with an `unsubscribe` link also get its headers. */
export function renderMail(
  mail: MailContent,
  instance: Instance,
  unsubscribe: UnsubscribeLink | null = null,
): RenderedMail {
  const said = say(mail, instance)
  const place = [
    ...(mail.organization_name === null ? [] : [oneLine(mail.organization_name)]),
    instance.name,
  ].join(' on ')
  return {
    subject: `${said.title} (${place})`,
    text: renderText(said, place, unsubscribe),
    html: renderHtml(said, place, unsubscribe),
    ...(unsubscribe ? { unsubscribeUrl: unsubscribe.url } : {}),
  }
}
