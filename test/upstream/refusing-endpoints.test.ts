// Reasons of failed requests to a provider, for its operator. RFC 6749 section 5.2: 401 with a challenge is `invalid_client`.
import { expect, test } from 'vitest'
import { setUpUpstream } from './parties.ts'

const refusal = (body: object, challenge?: string) =>
  new Response(JSON.stringify(body), {
    status: challenge === undefined ? 400 : 401,
    headers: { 'content-type': 'application/json', ...(challenge !== undefined && { 'www-authenticate': challenge }) },
  })

test.each([
  ['with the challenge of its scheme', 'Basic realm="upstream"', 'token_endpoint_invalid_client'],
  ['without a challenge', undefined, 'token_endpoint_invalid_client'],
  ['with the challenge of another scheme', 'Bearer error="invalid_token"', 'challenge_refused'],
])('a wrong secret is the reason: a refusal %s', async (_, challenge, reason) => {
  const f = await setUpUpstream({
    double: {
      intercept: ({ pathname }) =>
        pathname.endsWith('/token') ? refusal({ error: 'invalid_client' }, challenge) : undefined,
    },
  })
  const page = await f.comeBack(await f.leave())
  expect(page.html).toContain('provider_failed')
  expect(f.events).toContainEqual(expect.objectContaining({ type: 'upstream_sign_in_failed', reason }))
})

test('a refused pushed request is not a refused code', async () => {
  const issuer = 'https://login.acme.example.com'
  const f = await setUpUpstream({
    double: {
      metadata: { pushed_authorization_request_endpoint: `${issuer}/par` },
      intercept: ({ pathname }) => (pathname === '/par' ? refusal({ error: 'invalid_request' }) : undefined),
    },
  })
  await f.leave()
  const reason = 'par_endpoint_invalid_request'
  expect(f.events).toContainEqual(expect.objectContaining({ type: 'upstream_sign_in_failed', reason }))
})
