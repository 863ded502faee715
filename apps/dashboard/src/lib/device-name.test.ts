import { expect, it } from 'vitest'
import { deviceName } from './device-name.ts'

it('names browser and system, or what the header says', () => {
  for (const [header, name] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Safari/537.36 Edg/150.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Mobile Safari/604.1',
      'Safari on iPhone',
    ],
    ['curl/8.1', 'curl/8.1'],
    [null, 'Unknown program'],
  ] as const)
    expect(deviceName(header)).toBe(name)
})
