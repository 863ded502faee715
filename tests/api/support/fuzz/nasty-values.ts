/** Values that often break programs: wrong types, huge values, and texts with a meaning to lower layers. */
import fc from 'fast-check'

const texts = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\r\nx-injected: 1',
  '\n',
  '\ud800',
  'a\udfffb',
  '\ufeff',
  '\u202e',
  '\u2028',
  'e\u0301',
  '🦀'.repeat(50),
  'ß'.repeat(200),
  'İ',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  'true',
  '0',
  '-1',
  '1e999',
  '0x10',
  '9007199254740993',
  "' or 1=1 --",
  '"; drop table docks; --',
  '%',
  '_',
  '\\',
  '$1',
  '{{7*7}}',
  '$(id)',
  '`id`',
  '; true',
  '../../etc/passwd',
  '..',
  '.',
  '/',
  '//',
  '%2e%2e%2f',
  '%00',
  'C:\\x',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'http://127.0.0.1',
  'https://[::ffff:127.0.0.1]/',
  '<script>alert(1)</script>',
  '2026-02-30T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '0000-00-00',
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  'op_aaaaaaaaaaaaaaaaaaaa',
  'a@b',
  'a'.repeat(254),
  'a'.repeat(70_000),
] as const

const numbers = [0, -0, -1, 0.5, 1e21, 2 ** 31, 2 ** 53, Number.MAX_VALUE, Number.MIN_VALUE, -(2 ** 63)]

const deep = (depth: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

export const nastyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...texts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
)

/** Any JSON value. */
export const nastyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: nastyText },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(...numbers) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      [],
      {},
      [[]],
      [null],
      { a: null },
      deep(50),
      deep(2000),
    ),
  },
  { weight: 1, arbitrary: fc.array(nastyText, { maxLength: 200 }) },
  {
    weight: 1,
    // Parsed from text, because an object literal would not make `__proto__` an own property.
    arbitrary: fc
      .constantFrom('{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{"x":1}}}')
      .map((text) => JSON.parse(text) as unknown),
  },
)

/** Bodies that are not valid JSON, or not an object. */
export const brokenBody: fc.Arbitrary<string> = fc.constantFrom(
  '',
  '{',
  '[]',
  'null',
  '"text"',
  '1',
  '{"a":1,}',
  "{'a':1}",
  '{"a":1}{"a":1}',
  '\ufeff{}',
  '{"a":"\\ud800"}',
  `${'['.repeat(100_000)}`,
  `{"a":${'{"a":'.repeat(5000)}1${'}'.repeat(5001)}`,
  '{"name":"a","name":"b"}',
  '{"a":1e400}',
)
