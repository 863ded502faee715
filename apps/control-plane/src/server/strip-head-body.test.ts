import { expect, it } from 'vitest'
import { stripHeadBody } from './strip-head-body.ts'

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

it('keeps status and headers for HEAD, and cancels the body', async () => {
  const { response, wasCancelled } = answer()
  const head = await stripHeadBody('HEAD', response)
  expect([head.status, head.headers.get('content-length'), head.body]).toEqual([206, '7', null])
  expect(wasCancelled()).toBe(true)
})

it('leaves the response to GET unchanged', async () => {
  const { response, wasCancelled } = answer()
  expect(await stripHeadBody('GET', response)).toBe(response)
  expect(wasCancelled()).toBe(false)
})
