import { describe, expect, it } from 'vitest'
import { cleanText } from './clean-text.ts'
import { formatAge, formatBytes, formatSeconds } from './formats.ts'
import { Output } from './output.ts'
import type { Sink } from './sink.ts'
import { shortened, tableLines, widthOf } from './table.ts'
import { transferLine } from './transfer-bar.ts'

const sink = (more: Partial<Sink> = {}) => {
  let text = ''
  return {
    ...more,
    write: (chunk: string | Uint8Array) => {
      text += String(chunk)
      return true
    },
    text: () => text,
  }
}

const outputs = (
  options: {
    isTTY?: boolean
    columns?: number
    isJson?: boolean
    isQuiet?: boolean
    env?: Record<string, string>
  } = {},
) => {
  const { isTTY = false, columns = 80, isJson = false, isQuiet = false, env = {} } = options
  const [stdout, stderr] = [sink({ isTTY, columns }), sink({ isTTY, columns })]
  return { stdout, stderr, out: new Output({ stdout, stderr, env, isJson, isQuiet }) }
}

describe('text of others', () => {
  it('has nothing that a terminal obeys', () => {
    expect(cleanText('a\u001b]0;x\u0007b\u009b31m\r\u202ec\nd')).toBe(
      'a\\x1b]0;x\\x07b\\x9b31m\\x0d\\u202ec d',
    )
  })

  it('is escaped in JSON, which means the same', () => {
    const { stdout, stderr, out } = outputs({ isJson: true })
    const bad = 'a\u001b[2J\u009b31m\u007f\u202eb\u2028\n"ü'
    out.result({ name: bad }, () => undefined)
    out.failure('error', bad, 1)
    expect(stdout.text() + stderr.text()).not.toMatch(/[\p{Cc}\u202e\u2028](?<!\n)/u)
    expect(JSON.parse(stdout.text())).toEqual({ name: bad })
    expect(JSON.parse(stderr.text()).error.message).toBe(bad)
  })

  it('is cleaned in tables, fields, lines, remarks, warnings and failures', () => {
    const { stdout, stderr, out } = outputs()
    const bad = 'x\u001b[2Jy'
    out.table(['NAME'], [[bad]])
    out.fields([['name', bad]])
    out.line(bad)
    out.note(bad)
    out.warn(bad)
    out.failure('error', bad, 1)
    expect(stdout.text() + stderr.text()).not.toContain('\u001b')
    expect((stdout.text() + stderr.text()).split('x\\x1b[2Jy')).toHaveLength(7)
  })
})

describe('a table', () => {
  const headings = ['NAME', 'STATE', 'IMAGE', 'COMMAND', 'ID']
  const row = ['a-name-of-20-letters', 'Running', 'debian-13', 'c'.repeat(80), 'i'.repeat(36)]
  it('fits the width: text is shortened, then columns are left out from the right', () => {
    const at = (width: number): string[] => tableLines(headings, [row], { width, text: [3] })
    for (const width of [60, 80, 100, 120]) {
      expect(Math.max(...at(width).map(widthOf))).toBeLessThanOrEqual(width)
      expect(at(width)[1]).toContain('a-name-of-20-letters  Running')
    }
    expect(at(60)).toEqual([
      'NAME                  STATE    IMAGE      COMMAND',
      'a-name-of-20-letters  Running  debian-13  ccccccccccccccccc…',
    ])
    expect(at(20)).toEqual(['NAME', 'a-name-of-20-letters'])
  })

  it('never shortens what the next command needs, and lets one long name push its own row alone', () => {
    const long = 'n'.repeat(90)
    expect(
      tableLines(
        ['NAME', 'STATE', 'ID'],
        [
          [long, 'Running', '1'],
          ['web', 'Failed', '2'],
        ],
        { width: 60 },
      ),
    ).toEqual([`${'NAME'.padEnd(36)}  STATE    ID`, `${long}  Running  1`, `${'web'.padEnd(36)}  Failed   2`])
  })

  it('is not cut when it is no terminal, and counts wide characters', () => {
    expect(
      tableLines(
        ['N', 'X'],
        [
          ['日本', 'a'],
          ['b', 'c'.repeat(300)],
        ],
      ),
    ).toEqual(['N     X', '日本  a', `b     ${'c'.repeat(300)}`])
    expect(shortened('日本語', 5)).toBe('日本…')
  })

  it('has colours on a terminal alone, and none with NO_COLOR', () => {
    const show = (options: Parameters<typeof outputs>[0]): string => {
      const { stdout, out } = outputs(options)
      out.table(['STATE'], [['ready']], { colours: () => 'green' })
      return stdout.text()
    }
    expect(show({ isTTY: true })).toContain('\u001b[32mready')
    expect(show({ isTTY: true, env: { NO_COLOR: '1' } })).not.toContain('\u001b')
    expect(show({})).not.toContain('\u001b')
  })

  it('may have more rows than a function takes arguments', () => {
    expect(tableLines(['PATH'], Array(200_000).fill(['a']))).toHaveLength(200_001)
  })

  it('is a list of ids in quiet mode', () => {
    const { stdout, out } = outputs({ isQuiet: true })
    out.table(['NAME'], [['a'], ['b']], { ids: ['1', '2'] })
    expect(stdout.text()).toBe('1\n2\n')
  })
})

describe('a failure', () => {
  it('is JSON where it was asked for', () => {
    const { stderr, out } = outputs({ isJson: true })
    out.failure('not_found', 'No.', 5)
    expect(JSON.parse(stderr.text())).toEqual({ error: { code: 'not_found', message: 'No.', exitCode: 5 } })
  })
})

describe('a spinner', () => {
  const spin = async (options: Parameters<typeof outputs>[0], ms: number): Promise<string> => {
    const { stderr, out } = outputs(options)
    await out.wait('Working', new Promise((resolve) => setTimeout(resolve, ms)))
    return stderr.text()
  }
  it('is shown for what is slow, and removed', async () => {
    const text = await spin({ isTTY: true }, 450)
    expect(text).toContain('Working')
    expect(text.endsWith('\r\u001b[2K')).toBe(true)
  })
  it.each([
    ['quick work', { isTTY: true }, 0],
    ['no terminal', {}, 350],
    ['quiet mode', { isTTY: true, isQuiet: true }, 350],
    ['JSON', { isTTY: true, isJson: true }, 350],
  ])('is not shown for %s', async (_, options, ms) => {
    expect(await spin(options, ms)).toBe('')
  })
})

it('shows a transfer with bar, bytes, rate and time left', () => {
  const line = transferLine(
    { label: 'a → web:', done: 5 * 1024 ** 2, total: 20 * 1024 ** 2, elapsedMs: 1000 },
    100,
  )
  expect(line).toBe('a → web:  █████░░░░░░░░░░░░░░░ 5 MiB of 20 MiB  5 MiB/s  3 s left')
  expect(transferLine({ label: 'a', done: 10, total: null, elapsedMs: 1000 }, 100)).toBe('a  10 B  10 B/s')
  expect(
    widthOf(transferLine({ label: 'x'.repeat(200), done: 5, total: 9, elapsedMs: 1 }, 60)),
  ).toBeLessThanOrEqual(60)
})

it('writes sizes and times', () => {
  expect([0, 1023, 1536, 1024 ** 3, 250 * 1024 ** 2].map(formatBytes)).toEqual([
    '0 B',
    '1023 B',
    '1.5 KiB',
    '1 GiB',
    '250 MiB',
  ])
  expect([5, 600, 7200, 200_000].map(formatSeconds)).toEqual(['5 s', '10 min', '2 h', '2 d'])
  expect(formatAge('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:00:30Z'))).toBe('30 s')
  expect(formatAge('rubbish')).toBe('–')
})
