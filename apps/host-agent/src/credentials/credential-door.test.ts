/** What git may ask, and what a guest may try instead, over real connections. */
import { connect } from 'node:net'
import { createLogger } from '@dock/foundation'
import type { GitQuestion } from '@dock/host-protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openCredentialDoor } from './credential-door.ts'
import { parseGitQuestion } from './git-question.ts'

const logger = createLogger('test')
logger.level = 'silent'
const good = 'protocol=https\nhost=github.com\npath=acme/app.git\n\n'
const question = { protocol: 'https', host: 'github.com', path: 'acme/app.git' }

describe('a question', () => {
  const parse = (text: string) => parseGitQuestion(Buffer.from(text))

  it('is what git writes, with all that it tells of itself', () => {
    expect(parse(good)).toEqual(question)
    const more = 'capability[]=authtype\ncapability[]=state\nwwwauth[]=Basic realm="x=y"\n'
    expect(parse(`${more}${good}`)).toEqual(question)
    expect(parse(good.replace('https', 'http'))).toEqual({ ...question, protocol: 'http' })
  })

  it.each([
    ['nothing', ''],
    ['an empty line', '\n\n'],
    ['HTTP', 'GET / HTTP/1.1\nhost: x\n\n'],
    ['HTTP with lines of git in its body', `POST / HTTP/1.1\r\nhost: x\r\n\r\n${good}`],
    ['no end', good.slice(0, -1)],
    ['an empty line inside', good.replace('host', '\nhost')],
    ['no path', 'protocol=https\nhost=github.com\n\n'],
    ['an empty path', 'protocol=https\nhost=github.com\npath=\n\n'],
    ['a key said twice', good.replace('host', 'host=evil.test\nhost')],
    ['another protocol', good.replace('https', 'ssh')],
    ['a carriage return', good.replace('.com', '.com\r')],
    ['a NUL', good.replace('.com', '.com\0')],
    ['a control character', good.replace('.com', '.com\u0007')],
    ['a line without a sign', good.replace('host', 'x\nhost')],
    ['a prototype’s name as a list', `__proto__[]=x\n${good.replace('path', 'constructor')}`],
    ['too many lines', `${'a[]=b\n'.repeat(64)}${good}`],
    ['too many bytes', `a[]=${'b'.repeat(8192)}\n${good}`],
    ['a long path', good.replace('acme', 'a'.repeat(1025))],
  ])('is not %s', (_, text) => {
    expect(parse(text)).toBeNull()
  })
})

describe('the door', () => {
  let asked: GitQuestion[]
  let door: Awaited<ReturnType<typeof openCredentialDoor>>
  beforeEach(async () => {
    asked = []
    door = await openCredentialDoor({
      ...{ address: '127.0.0.1', port: 0, logger },
      ask: async (each) => {
        asked.push(each)
        return each.host === 'github.com' ? { username: 'x', password: 'secret' } : null
      },
    })
  })
  afterEach(() => door.close())

  const say = (text: string, { ends = false } = {}): Promise<string> =>
    new Promise((resolve) => {
      let told = ''
      const socket = connect(door.port, '127.0.0.1', () => (ends ? socket.end(text) : socket.write(text)))
      socket.setEncoding('utf8').on('data', (chunk) => {
        told += chunk
      })
      socket.on('error', () => undefined).on('close', () => resolve(told))
    })

  it('answers in lines as git reads them, whether or not the asker has ended', async () => {
    expect(await say(good)).toBe('username=x\npassword=secret\n')
    expect(await say(good, { ends: true })).toBe('username=x\npassword=secret\n')
    expect(asked).toEqual([question, question])
  })

  it('answers nothing where there is nothing', async () => {
    expect(await say(good.replace('github', 'gitlab'))).toBe('')
  })

  it('hangs up on what is no question, and asks nobody', async () => {
    expect(await say('GET / HTTP/1.1\nhost: x\n\n')).toBe('')
    expect(await say('x'.repeat(100_000))).toBe('')
    expect(await say('protocol=https\n', { ends: true })).toBe('')
    expect(asked).toEqual([])
  })

  it('lets a Dock ask so often and no more', async () => {
    const answers: string[] = []
    while (!answers.includes('') && answers.length < 2_000) answers.push(await say(good))
    expect(answers.slice(0, 60)).not.toContain('')
    expect(answers).toContain('')
  })
})
