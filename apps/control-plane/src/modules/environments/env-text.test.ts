import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatEnv, parseEnv } from './env-text.ts'

describe('KEY=value lines', () => {
  it('are parsed according to the grammar', () => {
    const text = `
# a comment
A=1
  B = two words  # a comment behind
export C='single $X \\n # kept'
D="a \\"b\\" \\$C \\\\ tab\\tend"
E="first
second" # behind
F=
G=x#y
H="\\q"
`
    expect(parseEnv(text)).toEqual({
      A: '1',
      B: 'two words',
      C: 'single $X \\n # kept',
      D: 'a "b" $C \\ tab\tend',
      E: 'first\nsecond',
      F: '',
      G: 'x#y',
      H: '\\q',
    })
  })

  it('are refused with the line number and the reason, but without a value', () => {
    for (const [text, line, says] of [
      ['A=1\nhunter2', 2, 'KEY=value'],
      ['PATH=hunter2', 1, 'reserved'],
      ['DOCK_X=hunter2', 1, 'reserved'],
      ['A-B=hunter2', 1, 'letters'],
      ['A="hunter2', 1, 'closing'],
      ['X="a\nb"\nA="hunter2" hunter2', 3, 'unexpected text'],
      ['A=\0', 1, 'NUL'],
    ] as const) {
      let message = ''
      try {
        parseEnv(text)
      } catch (error) {
        message = (error as Error).message
      }
      expect(message).toContain(`line ${line}`)
      expect(message).toContain(says)
      expect(message).not.toContain('hunter2')
    }
  })

  it('are unchanged by formatting and parsing, for any values', () => {
    const name = fc
      .stringMatching(/^[A-Z_][A-Z0-9_]{0,10}$/)
      .filter(
        (each) => !/^(DOCK_|PATH|HOME|USER|SHELL|LOGNAME|PWD|OLDPWD|TERM|HOSTNAME|IFS|ENV|BASH)/.test(each),
      )
    const value = fc
      .oneof(
        fc.string({ unit: 'binary' }),
        fc.string({
          unit: fc.constantFrom('"', "'", '\\', '\n', '\r', '#', ' ', '$', '=', 'n', 'a', '\t', '`'),
        }),
      )
      .filter((each) => !each.includes('\0') && each.isWellFormed())
    void fc.assert(
      fc.property(fc.dictionary(name, value), (variables) => {
        expect(parseEnv(formatEnv(variables))).toEqual({ ...variables })
      }),
      { numRuns: 500 },
    )
  })
})
