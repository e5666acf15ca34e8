import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { describe, expect, test } from 'vitest'
import { claimsOf } from '../support/claims-of.ts'
import { backend, frontend, grantType, setUp, typeOf } from './exchange-parties.ts'

describe('RFC 8693 section 2.1: the request', () => {
  test.each<[string, Record<string, string>, string]>([
    ['without subject_token', { subject_token: '' }, 'The parameter subject_token is required'],
    ['without subject_token_type', { subject_token_type: '' }, 'The parameter subject_token_type is required'],
    ['with an unknown type', { subject_token_type: typeOf('saml2') }, 'The subject_token_type is not supported'],
    ['with a short type', { subject_token_type: 'access_token' }, 'The subject_token_type is not supported'],
    [
      'with actor_token_type only',
      { actor_token_type: typeOf('access_token') },
      'actor_token and actor_token_type require each other',
    ],
    ['with actor_token only', { actor_token: 'x' }, 'actor_token and actor_token_type require each other'],
    [
      'with a refresh token as actor',
      { actor_token: 'x', actor_token_type: typeOf('refresh_token') },
      'The actor_token_type is not supported',
    ],
    [
      'for a refresh token',
      { requested_token_type: typeOf('refresh_token') },
      'The requested_token_type is not supported',
    ],
    [
      'for an identity token',
      { requested_token_type: typeOf('id_token') },
      'The requested_token_type is not supported',
    ],
  ])('%s is refused', async (_, more, text) => {
    const f = await setUp()
    const { status, body } = await f.exchange((await f.logIn()).access_token, more)
    expect([status, body]).toEqual([400, { error: 'invalid_request', error_description: text }])
  })

  test.each([
    ['access_token', undefined, 'access_token', false],
    ['jwt', 'jwt', 'jwt', true],
    ['access_token', 'access_token', 'access_token', false],
  ])('returns the type %s for requested_token_type %s', async (_, requested, issued, isJwt) => {
    const f = await setUp()
    const reference = await f.logIn()
    const { body } = await f.exchange(
      reference.access_token,
      requested === undefined ? {} : { requested_token_type: typeOf(requested) },
    )
    expect(body.issued_token_type).toBe(typeOf(issued))
    if (isJwt) expect(body.access_token.split('.')).toHaveLength(3)
  })

  test('resource and audience together name several services', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn()
    const { body } = await f.exchange(access_token, { resource: backend, audience: frontend })
    expect(claimsOf(body).aud).toEqual([frontend, backend])
  })

  test('resource and audience together name several services, with resourceIndicators() too', async () => {
    const f = await setUp({}, resourceIndicators())
    const { access_token } = await f.logIn()
    const { body } = await f.exchange(access_token, { resource: backend, audience: frontend })
    expect(claimsOf(body).aud).toEqual([frontend, backend])
  })

  test('resource and audience can repeat', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn()
    const base = new URLSearchParams({
      grant_type: grantType,
      subject_token: access_token,
      subject_token_type: typeOf('access_token'),
    })
    const form = (more: string[]) => `${base}&${more.map((pair) => encodeURI(pair)).join('&')}`
    const byResource = await f.post(form([`resource=${backend}`, `resource=${frontend}`]))
    expect(claimsOf(byResource.body).aud).toEqual([frontend, backend])
    const byAudience = await f.post(form([`audience=${backend}`, `audience=${frontend}`]))
    expect(claimsOf(byAudience.body).aud).toEqual([frontend, backend])
  })

  test.each([
    ['resource', 'frontend', 'plugin:token-exchange:malformed'],
    ['resource', 'https://evil.example.com/', 'audience_not_allowed'],
    ['audience', 'evil', 'audience_not_allowed'],
    ['audience', `${frontend}  ${backend}`, 'plugin:token-exchange:malformed'],
  ])('section 2.2.2: the %s %s is refused as invalid_target', async (name, value, reason) => {
    const f = await setUp()
    const { status, body, failure } = await f.exchange((await f.logIn()).access_token, { [name]: value })
    expect([status, body.error, failure]).toEqual([400, 'invalid_target', reason])
  })
})
