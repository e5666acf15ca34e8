import { createTestProvider, read, type TestResponse, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const credentials = `client_id=${web[0]}&client_secret=${web[1]}`
const good = `grant_type=client_credentials&scope=api1&${credentials}`

const post = async ({ provider }: Pick<Fixture, 'provider'>, body: string): Promise<TestResponse> =>
  read(
    await provider.handlers.token(
      new Request('https://id.example.com/connect/token', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    ),
  )

describe('names', () => {
  test.each(['Grant_Type', 'GRANT_TYPE', 'grant_type%20', 'grant%2Dtype'])(
    '1.11 names are case-sensitive and exact: %s is not grant_type',
    async (name) => {
      const f = await fixture()
      const { status, body } = await post(f, `${name}=client_credentials&scope=api1&${credentials}`)
      expect([status, body.error]).toEqual([400, 'invalid_request'])
      expect(f.events.at(-1)).toMatchObject({ reason: 'grant_type_missing' })
    },
  )

  test('1.11 names that differ in case are not a repetition', async () => {
    expect((await post(await fixture(), `${good}&Scope=nonsense`)).status).toBe(200)
  })

  test('1.11 decodes a percent-encoded name', async () => {
    const body = `grant%5Ftype=client_credentials&sc%6Fpe=api1&${credentials}`
    expect((await post(await fixture(), body)).status).toBe(200)
  })

  test.each([
    'foo=bar',
    'foo',
    'foo=',
    '=bar',
    '=',
    '&&',
    '__proto__=x',
    'constructor=x',
    'toString=x',
    'hasOwnProperty=x',
    'x=a=b=c',
    'code=x&username=y',
  ])('1.14 ignores the unknown parameter %s', async (extra) => {
    const { status, body } = await post(await fixture(), `${extra}&${good}`)
    expect(status).toBe(200)
    expect(body.scope).toBe('api1')
  })
})

describe('empty values', () => {
  test.each(['grant_type=', 'grant_type', 'grant%5Ftype='])(
    '1.12 an empty value counts as omitted: %s',
    async (empty) => {
      const f = await fixture()
      const { status, body } = await post(f, `${empty}&scope=api1&${credentials}`)
      expect([status, body.error]).toEqual([400, 'invalid_request'])
      expect(f.events.at(-1)).toMatchObject({ reason: 'grant_type_missing' })
    },
  )

  test('1.12 accepts an empty optional parameter', async () => {
    const f = await fixture()
    const form = {
      grant_type: 'password',
      username: 'alice',
      password: 'alice-password',
      scope: 'api1',
      acr_values: '',
    }
    expect((await f.post('token', form, web)).status).toBe(200)
  })

  test('1.12 an empty client_secret beside a Basic header is not a second credential', async () => {
    const f = await fixture()
    const form = { grant_type: 'client_credentials', scope: 'api1', client_secret: '' }
    expect((await f.post('token', form, web)).status).toBe(200)
  })

  test('1.12 an empty token in a query is a missing token too', async () => {
    const f = await fixture()
    const { status, body } = await f.get('accessTokenValidation', { token: '' })
    expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect(f.events.at(-1)).toMatchObject({ reason: 'parameter_missing' })
  })

  test('1.12 a space is not an empty value', async () => {
    const f = await fixture()
    const { body } = await post(f, `grant_type=+&scope=api1&${credentials}`)
    expect(body.error).toBe('unsupported_grant_type')
  })
})

describe('repeated parameters', () => {
  test.each([
    'grant_type=client_credentials',
    'grant_type=password',
    'scope=api2',
    'sc%6Fpe=api2',
    'scope=',
    'client_id=web',
    'client_secret=x',
    'foo=1&foo=1',
    'foo&foo',
    '__proto__=1&__proto__=2',
  ])('1.13 rejects a repeated parameter: %s', async (extra) => {
    const f = await fixture()
    const { status, body } = await post(f, `${good}&${extra}`)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_request', error_description: expect.any(String) })
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'repeated_parameter' })
  })

  test.each(['accessTokenValidation', 'identityTokenValidation'] as const)(
    '1.13 rejects a repeated parameter in the query at %s',
    async (endpoint) => {
      const { provider } = await fixture()
      const request = new Request('https://id.example.com/x?token=a&client_id=web&token=a')
      const { status, body } = await read(await provider.handlers[endpoint](request))
      expect([status, body.error]).toEqual([400, 'invalid_request'])
    },
  )

  // RFC 8707 section 2: "Multiple resource parameters MAY be used".
  test('1.13 accepts a repeated resource at the token endpoint', async () => {
    const extra = 'resource=https%3A%2F%2Fone.example.com&resource=https%3A%2F%2Ftwo.example.com'
    expect(await post(await fixture(), `${good}&${extra}`)).toMatchObject({ status: 200 })
  })

  // RFC 8693 section 2.1: "multiple audience parameters may be used".
  test('1.13 accepts a repeated audience in a token exchange', async () => {
    const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
    const exchange = testGrant({ grantType, handle: ({ scopes }) => ({ scopes }) })
    const f = await createTestProvider({ plugins: [exchange] })
    const [id, secret] = testClient
    const form = new URLSearchParams({ grant_type: grantType, scope: 'api1', client_id: id, client_secret: secret })
    expect(await post(f, `${form}&audience=one&audience=two`)).toMatchObject({ status: 200 })
  })
})
