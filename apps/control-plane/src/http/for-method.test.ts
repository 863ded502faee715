import { expect, it } from 'vitest'
import { forMethod } from './for-method.ts'

const answer = () => {
  let cancelled = false
  const body = new ReadableStream({
    cancel: () => {
      cancelled = true
    },
  })
  const response = new Response(body, { status: 206, headers: { 'content-length': '7' } })
  return { response, wasCancelled: () => cancelled }
}

it('HEAD has the headers of GET, and what makes the body is ended', async () => {
  const { response, wasCancelled } = answer()
  const head = await forMethod('HEAD', response)
  expect([head.status, head.headers.get('content-length'), head.body]).toEqual([206, '7', null])
  expect(wasCancelled()).toBe(true)
})

it('GET is left as it is', async () => {
  const { response, wasCancelled } = answer()
  expect(await forMethod('GET', response)).toBe(response)
  expect(wasCancelled()).toBe(false)
})
