import { expect, it } from 'vitest'
import { instanceOf, renderMail } from './index.ts'

const instance = instanceOf('https://dock.example.test')
const content = {
  subject: 'otter stopped responding',
  body: 'First.\n\nSecond.',
  link: '/docks/1',
  link_label: 'Open the Dock',
  organization_name: 'Acme',
  gathered: null,
}

it('names instance and organization in the subject and in both bodies, with one link', () => {
  const { subject, text, html, unsubscribeUrl } = renderMail(content, instance)
  expect(subject).toBe('otter stopped responding (Acme on dock.example.test)')
  expect(text).toBe(`otter stopped responding

First.

Second.

Open the Dock:
https://dock.example.test/docks/1

-- 
Sent by Dock for Acme on dock.example.test.
`)
  expect(html).toContain('Acme on dock.example.test')
  expect(html.match(/href="[^"]*"/g)).toEqual(['href="https://dock.example.test/docks/1"'])
  expect(unsubscribeUrl).toBeUndefined()
})

it('loads nothing from elsewhere and runs nothing', () => {
  const unsubscribe = { url: 'https://dock.example.test/u', when: 'a disk is full' }
  const { html, text, unsubscribeUrl } = renderMail(content, instance, unsubscribe)
  expect(html).not.toMatch(/<(img|script|link|iframe|object)|src=|url\(|@import/i)
  expect(html).toContain('<html lang="en">')
  expect(text).toContain('Dock mails you when a disk is full.\nSend no more of these mails:\nhttps://dock')
  expect(unsubscribeUrl).toBe(unsubscribe.url)
})

it('shows names that people chose as text on one line', () => {
  const name = '<b>Acme</b>\n\nhttps://evil.test "&\''
  const { subject, text, html } = renderMail({ ...content, organization_name: name, subject: name }, instance)
  expect(subject).not.toContain('\n')
  expect(text.split('\n')[0]).toBe('<b>Acme</b> https://evil.test "&\'')
  expect(html).not.toContain('<b>')
  expect(html).toContain('&lt;b&gt;Acme&lt;/b&gt; https://evil.test &quot;&amp;&#39;')
})

it('lists at most 20 items of a mail that several alerts share', () => {
  const gathered = {
    title: '{count} of your Docks',
    body: 'They stopped.',
    link: '/docks',
    linkLabel: 'Open your Docks',
    items: Array.from({ length: 22 }, (_, n) => `dock-${n}`),
  }
  const { subject, text } = renderMail({ ...content, gathered }, instance)
  expect(subject).toBe('22 of your Docks (Acme on dock.example.test)')
  expect(text).toContain('- dock-19\n- 2 more\n')
  expect(text).not.toContain('dock-20')
  expect(text).toContain('Open your Docks:\nhttps://dock.example.test/docks\n')
  const one = renderMail({ ...content, gathered: { ...gathered, items: ['dock-0'] } }, instance)
  expect(one.subject).toBe('otter stopped responding (Acme on dock.example.test)')
})
