import { expect, test } from 'vitest'
import { answerLocalhost } from './localhost-answer.ts'

const nameOf = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1')),
    Buffer.from([0]),
  ])

/** A query with an id, recursion desired, and one question. */
const query = (name: string, type: number, additional = 0): Buffer => {
  const end = Buffer.from([0, type, 0, 1])
  return Buffer.concat([Buffer.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, additional]), nameOf(name), end])
}

test('names below localhost mean the Dock itself', () => {
  for (const name of ['localhost', 'web.brave-otter.docks.localhost', 'A.LOCALHOST']) {
    const answer = answerLocalhost(query(name, 1, 1))!
    expect(answer.subarray(0, 12).toString('hex')).toBe('123481800001000100000000')
    expect([...answer.subarray(-6)]).toEqual([0, 4, 127, 0, 0, 1])
  }
  expect(answerLocalhost(query('a.localhost', 28))!.subarray(-18).toString('hex')).toBe(
    `0010${'00'.repeat(15)}01`,
  )
})

test('other types of such a name have no record', () => {
  const answer = answerLocalhost(query('a.localhost', 16))!
  expect(answer.subarray(0, 12).toString('hex')).toBe('123481800001000000000000')
})

test('other names and broken queries are left to the resolvers', () => {
  for (const name of ['localhost.example.com', 'notlocalhost', 'a.mylocalhost', 'example.com'])
    expect(answerLocalhost(query(name, 1))).toBeNull()
  // The end of a label that looks like a name of its own.
  expect(answerLocalhost(query('xx\u0009localhost', 1))).toBeNull()
  const valid = query('a.localhost', 1)
  for (let length = 0; length < valid.length; length++)
    expect(answerLocalhost(valid.subarray(0, length))).toBeNull()
  expect(answerLocalhost(Buffer.alloc(64, 0xff))).toBeNull()
  expect(answerLocalhost(Buffer.from('question 1'))).toBeNull()
})
