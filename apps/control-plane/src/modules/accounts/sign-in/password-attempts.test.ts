import { rateLimits } from '@dock/contract'
import { expect, it } from 'vitest'
import { createRateLimits } from '../../../rate-limits/rate-limits.ts'
import { createPasswordAttempts } from './password-attempts.ts'

const owner = 'hash-of-the-owner'
const { max } = rateLimits.signInsPerAccount
const maxAnywhere = rateLimits.signInsPerAccountAnywhere.max

const create = (secure = false) => {
  const attempts = createPasswordAttempts(createRateLimits(), { secret: 'secret of this test', secure })
  /** Returns whether the attempt may compare the password. */
  const fails = (address: string, cookie: string | null = null, account = owner): Promise<boolean> =>
    attempts.begin(account, cookie, address).then(
      () => true,
      (error: { code?: string }) => {
        expect(error.code).toBe('rate_limited')
        return false
      },
    )
  const signIn = async (address: string, cookie: string | null = null): Promise<string> =>
    (await attempts.begin(owner, cookie, address)).succeeded()
  return { fails, signIn }
}
const cookieOf = (setCookie: string): string => setCookie.split(';')[0]!
const times = async (count: number, attempt: (n: number) => Promise<boolean>): Promise<boolean[]> => {
  const results: boolean[] = []
  for (let n = 0; n < count; n += 1) results.push(await attempt(n))
  return results
}
const allowed = (count: number): boolean[] => Array.from({ length: count }, () => true)

it('lets the owner in from another address while a stranger guesses', async () => {
  const { fails, signIn } = create()
  expect(await times(max + 1, () => fails('203.0.113.1'))).toEqual([...allowed(max), false])
  await expect(signIn('203.0.113.1')).rejects.toMatchObject({ code: 'rate_limited' })
  await signIn('203.0.113.2')
})

it('counts the addresses of one IPv6 network together', async () => {
  const { fails } = create()
  expect(await times(max + 1, (n) => fails(`2001:db8::${n + 1}`))).toEqual([...allowed(max), false])
  expect(await fails('2001:db8:0:1::1')).toBe(true)
})

it('limits guesses from many addresses, and spares devices on which the account signed in before', async () => {
  const { fails, signIn } = create()
  const device = cookieOf(await signIn('198.51.100.1'))
  const strangers = (n: number) => fails(`203.0.113.${n + 1}`)
  expect(await times(maxAnywhere + 1, strangers)).toEqual([...allowed(maxAnywhere), false])
  await expect(signIn('198.51.100.1')).rejects.toMatchObject({ code: 'rate_limited' })
  expect(cookieOf(await signIn('198.51.100.2', `other=1; ${device}`))).toBe(device)
})

it('limits the guesses of a known device', async () => {
  const { fails, signIn } = create()
  const device = cookieOf(await signIn('198.51.100.1'))
  const results = await times(max + 1, (n) => fails(`203.0.113.${n + 1}`, device))
  expect(results).toEqual([...allowed(max), false])
})

it.each([
  ['of another account', (device: string) => device, 'hash-of-another'],
  ['with a changed id', (device: string) => device.replace('=', '=x'), owner],
  ['with a shortened signature', (device: string) => device.slice(0, -1), owner],
  ['without a signature', (device: string) => device.split('.', 2).join('.'), owner],
  ['that is empty', () => 'dock.device=', owner],
])('takes no device for known by a cookie %s', async (_, change, account) => {
  const { fails, signIn } = create()
  const device = change(cookieOf(await signIn('198.51.100.1')))
  await times(max, () => fails('203.0.113.1', null, account))
  expect(await fails('203.0.113.1', device, account)).toBe(false)
})

it('counts no attempt that succeeds', async () => {
  const { fails, signIn } = create()
  for (let n = 0; n <= maxAnywhere; n += 1) await signIn('198.51.100.1')
  expect(await times(max + 1, () => fails('198.51.100.1'))).toEqual([...allowed(max), false])
})

it('binds the cookie to the host over https', async () => {
  expect(await create(true).signIn('198.51.100.1')).toMatch(
    /^__Host-dock\.device=[^;]+; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  )
})
