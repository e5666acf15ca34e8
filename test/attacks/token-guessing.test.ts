/**
 * Attack: guessing tokens at the endpoints that check them without client credentials: userinfo and the two validation
 * endpoints. A throttled caller must never receive "invalid token", because it would discard a valid one.
 */
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, web } from '../support/fixture.ts'

const home = '192.0.2.1'
const elsewhere = '198.51.100.7'

const endpoints: [string, (f: Fixture, token: string, from?: string) => ReturnType<Fixture['get']>, number][] = [
  ['userinfo', (f, token, from) => f.get('userinfo', {}, { authorization: `Bearer ${token}` }, from), 401],
  ['accessTokenValidation', (f, token, from) => f.get('accessTokenValidation', { token }, {}, from), 400],
  [
    'identityTokenValidation',
    (f, token, from) =>
      f.get('identityTokenValidation', { token, client_id: 'web' }, { origin: 'https://web.example.com' }, from),
    400,
  ],
]

const tokens = async (f: Fixture) => {
  const { body } = await f.post(
    'token',
    {
      grant_type: 'authorization_code',
      code: await f.code({ scopes: ['openid'] }),
      redirect_uri: 'https://web.example.com/callback',
    },
    web,
  )
  return body
}

describe.each(endpoints)('%s', (name, validate, refusal) => {
  test('responds to six hundred invalid tokens of an address in a minute, then 429 for the valid one too', async () => {
    const f = await fixture({ abuseControl: true })
    const body = await tokens(f)
    const good = name === 'identityTokenValidation' ? body.id_token : body.access_token
    for (let count = 0; count < 600; count += 1)
      expect((await validate(f, `guess-${count}`, home)).status).toBe(refusal)
    for (const token of ['guess', good]) {
      const { status, body: answered, headers } = await validate(f, token, home)
      expect(status).toBe(429)
      expect(answered).toEqual({ error: 'slow_down', error_description: expect.any(String) })
      expect(headers.get('www-authenticate')).toBeNull()
      expect(headers.get('cache-control')).toBe('no-store')
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
      if (name === 'identityTokenValidation') {
        expect(headers.get('access-control-allow-origin')).toBe('https://web.example.com')
      }
    }
    expect((await validate(f, good, elsewhere)).status).toBe(200)
    f.clock.advance(60)
    expect((await validate(f, good, home)).status).toBe(200)
  })

  test('valid tokens and requests without one do not count', async () => {
    const f = await fixture({ abuseControl: { validation: { failures: 2 } } })
    const body = await tokens(f)
    const good = name === 'identityTokenValidation' ? body.id_token : body.access_token
    for (let count = 0; count < 10; count += 1) {
      expect((await validate(f, good, home)).status).toBe(200)
      await f.get(name as 'userinfo', {}, {}, home)
    }
    expect((await validate(f, good, home)).status).toBe(200)
  })

  test('with a limit of requests, valid ones count as well', async () => {
    const f = await fixture({ abuseControl: { validation: { requests: 3 } } })
    const body = await tokens(f)
    const good = name === 'identityTokenValidation' ? body.id_token : body.access_token
    const statuses = []
    for (let count = 0; count < 5; count += 1) statuses.push((await validate(f, good, home)).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    expect((await validate(f, good, elsewhere)).status).toBe(200)
  })

  test('revoked tokens do not count: an API behind the same address still learns which ones are valid', async () => {
    const f = await fixture({ abuseControl: { validation: { failures: 2 } } })
    const [body, later] = [await tokens(f), await tokens(f)]
    const typed = name === 'identityTokenValidation' ? 'id_token' : 'access_token'
    expect((await validate(f, body[typed], home)).status).toBe(200)
    await f.provider.revoke({ subject: '1' })
    for (let count = 0; count < 10; count += 1) expect((await validate(f, body[typed], home)).status).toBe(refusal)
    for (let count = 0; count < 2; count += 1) expect((await validate(f, 'guess', home)).status).toBe(refusal)
    expect((await validate(f, later[typed], home)).status).toBe(429)
  })

  test('without abuseControl nothing is counted', async () => {
    const f = await fixture()
    for (let count = 0; count < 110; count += 1) expect((await validate(f, 'guess', home)).status).toBe(refusal)
  })
})

test('guesses at the three endpoints count together', async () => {
  const f = await fixture({ abuseControl: { validation: { failures: 6 } } })
  const statuses = []
  for (let count = 0; count < 8; count += 1) {
    const [, validate] = endpoints[count % 3] as (typeof endpoints)[number]
    statuses.push((await validate(f, 'guess', home)).status)
  }
  expect(statuses.slice(6)).toEqual([429, 429])
  expect(statuses.slice(0, 6)).not.toContain(429)
})

test('a header that cannot contain a token does not count', async () => {
  const f = await fixture({ abuseControl: { validation: { failures: 2 } } })
  const { access_token: token } = await tokens(f)
  for (let count = 0; count < 10; count += 1) {
    expect((await f.get('userinfo', {}, { authorization: 'Bearer' }, home)).status).toBe(401)
  }
  expect((await f.get('userinfo', {}, { authorization: `Bearer ${token}` }, home)).status).toBe(200)
})
