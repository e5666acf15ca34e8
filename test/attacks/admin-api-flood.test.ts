/**
 * Attack: a flood of requests to the admin API, without a token, with invalid ones, or with that of a program that runs
 * wild. It must not reach the storage, fill the memory, or keep an administrator at another address out.
 */
import { describe, expect, test } from 'vitest'
import { issuer, setting } from '../admin-api/setting.ts'

async function service(requestsPerMinutePerAddress = 3) {
  const f = await setting({ more: { requestsPerMinutePerAddress } })
  const call = async (clientAddress: string | undefined, headers: Readonly<Record<string, string>> = {}, query = '') =>
    f.provider.fetch(new Request(`${issuer}/admin/v1${query}`, { headers }), { clientAddress })
  const admin = { authorization: `Bearer ${await f.tokenOf('ops', 'admin')}` }
  return { ...f, call, admin }
}

const statuses = async (count: number, call: (index: number) => Promise<Response>): Promise<readonly number[]> => {
  const received: number[] = []
  for (let index = 0; index < count; index += 1) received.push((await call(index)).status)
  return received
}

describe('a flood', () => {
  test.each([
    ['without a token', {}, 401],
    ['with invalid tokens', { authorization: 'Bearer guess' }, 401],
  ])('%s from one address does not keep an administrator at another one out', async (_, headers, status) => {
    const { call, admin, clock } = await service()
    expect(await statuses(5, () => call('192.0.2.66', headers))).toEqual([status, status, status, 429, 429])
    expect((await call('192.0.2.7', admin)).status).toBe(200)
    // The address itself is limited, with a right token, too: until the minute ends.
    const refused = await call('192.0.2.66', admin)
    expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'application/problem+json'])
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(60)
    clock.advance(wait)
    expect((await call('192.0.2.66', admin)).status).toBe(200)
  })

  test('is refused before its token is validated and its body is read', async () => {
    const { call, events, provider } = await service(1)
    await call('192.0.2.66')
    const before = events.filter(({ type }) => type === 'validation_failed').length
    await call('192.0.2.66', { authorization: 'Bearer guess' })
    expect(events.filter(({ type }) => type === 'validation_failed')).toHaveLength(before)
    const body = new ReadableStream({
      pull() {
        throw new Error('the body was read')
      },
    })
    const post = {
      method: 'POST',
      body,
      duplex: 'half',
      headers: { 'content-type': 'application/json' },
    } as RequestInit
    const request = new Request(`${issuer}/admin/v1/clients`, post)
    expect((await provider.fetch(request, { clientAddress: '192.0.2.66' })).status).toBe(429)
  })

  test('from the addresses of one IPv6 network counts once', async () => {
    const { call, admin } = await service()
    expect(await statuses(4, (index) => call(`2001:db8:0:1::${index + 1}`))).toEqual([401, 401, 401, 429])
    expect((await call('2001:db8:0:2::1', admin)).status).toBe(200)
  })

  test('from more addresses than a process remembers keeps no administrator out', async () => {
    const { call, admin } = await service(1)
    const all = Array.from({ length: 10_050 }, (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`)
    for (const address of all) expect((await call(address)).status).toBe(401)
    expect((await call('192.0.2.7', admin)).status).toBe(200)
    // The oldest are forgotten, the newest are not.
    expect([(await call(all[0])).status, (await call(all.at(-1))).status]).toEqual([401, 429])
  })

  test('with an unknown address does not lock all callers out', async () => {
    const { call, admin } = await service()
    expect(new Set(await statuses(10, () => call(undefined)))).toEqual(new Set([401]))
    expect((await call(undefined, admin)).status).toBe(200)
  })
})

describe('a token in two places', () => {
  test.each(['?access_token=x', '?limit=1&access_token=', '?access%5Ftoken=x'])(
    'is refused, not ignored: %s beside the header',
    async (query) => {
      const { call, admin, send } = await service(100)
      const response = await call('192.0.2.7', admin, `/clients${query}`)
      expect([response.status, (await response.json()).error]).toEqual([400, 'invalid_request'])
      expect((await send('POST', `/clients${query}`, { body: { clientId: 'x' } })).status).toBe(400)
      expect((await send('GET', '/clients/x')).status).toBe(404)
    },
  )

  test('is refused in the URL alone, and with two headers', async () => {
    const { call, admin, tokenOf, provider } = await service(100)
    const token = await tokenOf('ops', 'admin')
    expect((await call('192.0.2.7', {}, `?access_token=${token}`)).status).toBe(401)
    const headers = new Headers(admin)
    headers.append('authorization', `Bearer ${token}`)
    expect((await provider.fetch(new Request(`${issuer}/admin/v1`, { headers }))).status).toBe(401)
  })
})
