import { expect, test } from 'vitest'
import { formats } from '../support/access-token.ts'
import { traceFields } from '../support/event-fields.ts'
import { api1, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

async function tokensOf(f: Fixture, client = web) {
  const code = await f.code({ clientId: client[0] })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  return (await f.post('token', form, client)).body as { access_token: string; id_token: string }
}

type Tokens = Awaited<ReturnType<typeof tokensOf>>

const requests = {
  userinfo: (f: Fixture, { access_token }: Tokens) =>
    f.get('userinfo', {}, { authorization: `Bearer ${access_token}` }),
  accessTokenValidation: (f: Fixture, { access_token: token }: Tokens) => f.post('accessTokenValidation', { token }),
  introspection: (f: Fixture, { access_token: token }: Tokens) => f.post('introspection', { token }, api1),
  identityTokenValidation: (f: Fixture, { id_token: token }: Tokens, clientId = 'web') =>
    f.post('identityTokenValidation', { token, client_id: clientId }),
} as const

const endpoints = Object.keys(requests) as (keyof typeof requests)[]

/** The first event of the last request: the result of the validation. */
function verdictOf({ events }: Fixture) {
  const request = events.at(-1)?.id.split('.')[0]
  return events.find(({ id }) => id.startsWith(`${request}.`))
}

test.each(endpoints)('10.8 a valid token: %s reports success, with client and subject', async (endpoint) => {
  for (const [, client] of formats) {
    const f = await fixture()
    await requests[endpoint](f, await tokensOf(f, client), client[0])
    const tokenType = endpoint === 'identityTokenValidation' ? 'identity_token' : 'access_token'
    const fact =
      endpoint === 'introspection'
        ? { type: 'introspection_active', scope: 'api1' }
        : { type: 'validation_succeeded', tokenType }
    expect(verdictOf(f)).toEqual({
      ...fact,
      fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/u),
      id: expect.any(String),
      ...traceFields,
      time: f.clock.now(),
      endpoint,
      clientId: client[0],
      sub: '1',
    })
  }
})

test.each(endpoints)('10.8 a foreign token: %s reports failure, without client or subject', async (endpoint) => {
  const f = await fixture()
  await requests[endpoint](f, { access_token: 'unknown-token', id_token: 'unknown-token' })
  const tokenType = endpoint === 'identityTokenValidation' ? 'identity_token' : 'access_token'
  const fact =
    endpoint === 'introspection'
      ? { type: 'introspection_inactive', scope: 'api1' }
      : { type: 'validation_failed', tokenType }
  expect(verdictOf(f)).toEqual({
    ...fact,
    reason: 'token_unknown',
    // The first 8 hex digits of the SHA-256 of `unknown-token`.
    fingerprint: '9206c239',
    id: expect.any(String),
    ...traceFields,
    time: f.clock.now(),
    endpoint,
  })
})

// The token is ours and names its owner, which an operator needs to investigate a refusal.
test.each(endpoints)('10.12 a token of an inactive user: %s names its client and subject', async (endpoint) => {
  for (const [, client] of formats) {
    const f = await fixture()
    const tokens = await tokensOf(f, client)
    Object.assign(f.users.alice ?? {}, { active: false })
    await requests[endpoint](f, tokens, client[0])
    expect(verdictOf(f)).toMatchObject({ reason: 'user_inactive', clientId: client[0], sub: '1' })
    expect(f.events.at(-1)).toMatchObject({ endpoint, clientId: client[0], sub: '1' })
  }
})

test.each(formats)('10.12 a %s without openid at userinfo: names client and subject', async (_, client) => {
  const f = await fixture()
  const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }
  const { access_token } = (await f.post('token', form, client)).body
  await f.get('userinfo', {}, { authorization: `Bearer ${access_token}` })
  expect(f.events.at(-1)).toMatchObject({
    type: 'endpoint_failed',
    reason: 'openid_missing',
    clientId: client[0],
    sub: '1',
  })
})

// Wire contract, section 1: events carry a short fingerprint. Without it an operator cannot tell which token was
// refused.
test.each(endpoints)('10.8 the validation event of %s has the fingerprint of the token', async (endpoint) => {
  const f = await fixture()
  const tokens = await tokensOf(f)
  await requests[endpoint](f, tokens)
  const token = endpoint === 'identityTokenValidation' ? tokens.id_token : tokens.access_token
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
  expect(verdictOf(f)).toMatchObject({ fingerprint: Buffer.from(digest).toString('hex').slice(0, 8) })
})
