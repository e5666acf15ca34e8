import { describe, expect, test } from 'vitest'
import { cookiesOf, cookieValue } from '../../packages/next/src/client/cookies.ts'

const request = (cookie = '') => new Request('https://app.example.com/', { headers: { cookie } })
const linesOf = (cookies: ReturnType<typeof cookiesOf>) => cookies.headers().map(([, line]) => line)

describe('a value in cookies', () => {
  test('takes as many cookies as it needs, and leaves none of a longer one', () => {
    const value = cookieValue('grantry-session', true)
    const cookies = cookiesOf(request('other=1'))
    const long = `${'a'.repeat(3800)}${'b'.repeat(3800)}c`
    value.write(cookies, long, 60)
    expect(value.read(cookies)).toBe(long)
    expect(linesOf(cookies).map((line) => line.length < 4096)).toEqual([true, true, true])
    value.write(cookies, 'short', 60)
    expect(value.read(cookies)).toBe('short')
    expect(linesOf(cookies)).toEqual([
      '__Host-grantry-session=short; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure',
      '__Host-grantry-session.1=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
      '__Host-grantry-session.2=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
    ])
    value.remove(cookies)
    expect(value.read(cookies)).toBeUndefined()
  })

  test('is refused if no server would accept its length', () => {
    const value = cookieValue('grantry-session', true)
    expect(() => value.write(cookiesOf(request()), 'a'.repeat(11_401), 60)).toThrow('keep it in a store: sessions')
  })

  test('on this machine has no prefix, which needs TLS', () => {
    const cookies = cookiesOf(request())
    cookieValue('grantry-session', false).write(cookies, 'a', 60)
    expect(linesOf(cookies)).toEqual(['grantry-session=a; Path=/; Max-Age=60; HttpOnly; SameSite=Lax'])
  })

  test.each(['', '__Host-grantry-session', '=', '; ;', '__Host-grantry-session='])('is absent in %j', (cookie) => {
    expect(cookieValue('grantry-session', true).read(cookiesOf(request(cookie)))).toBeUndefined()
  })
})
