import { expect, it } from 'vitest'
import { webAddress } from './web-address.ts'

it('takes addresses of web pages only', () => {
  expect(webAddress('https://github.com/acme/app/pull/1')).toBe('https://github.com/acme/app/pull/1')
  for (const hostile of ['javascript:alert(1)', 'data:text/html,x', '//evil.test', 'nothing', '', null])
    expect(webAddress(hostile)).toBeUndefined()
})
