import { describe, expect, test } from 'vitest'
import { claimsOf } from '../support/claims-of.ts'
import { backend, context, issuer, originalIssuer, originalKey, service, setUp, typeOf } from './exchange-parties.ts'

describe('RFC 8693 section 2.3: the example', () => {
  test('an API exchanges the access token that it received for one for a backend', async () => {
    const f = await setUp({ allow: ({ targets }) => targets.includes(backend) && { scopes: ['api'] } })
    const { access_token: token } = await f.logIn({ scopes: ['front'] })
    const { status, body } = await f.post(
      'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange' +
        '&resource=https%3A%2F%2Fbackend.example.com%2Fapi' +
        `&subject_token=${token}` +
        '&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token',
    )
    expect(status).toBe(200)
    expect(body).toEqual({
      access_token: expect.any(String),
      issued_token_type: typeOf('access_token'),
      token_type: 'Bearer',
      expires_in: 600,
      scope: 'api',
    })
    expect(claimsOf(body)).toMatchObject({
      iss: issuer,
      aud: backend,
      sub: 'bdc@example.com',
      client_id: service[0],
      scope: 'api',
      amr: ['pwd'],
      auth_time: f.clock.now() - 5,
    })
    expect(claimsOf(body)).not.toHaveProperty('act')
  })
})

describe('RFC 8693 appendix A: the examples', () => {
  test('A.1, impersonation: a JWT of another issuer', async () => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const claims = f.originalClaims({ sub: 'bdc@example.net', scope: 'orders profile history' })
    const { status, body } = await f.exchange(await originalKey.sign(claims), {
      subject_token_type: typeOf('jwt'),
      resource: context,
      requested_token_type: typeOf('jwt'),
      scope: 'orders profile-data history',
    })
    expect([status, body.issued_token_type, body.scope]).toEqual([200, typeOf('jwt'), 'orders profile-data history'])
    expect(claimsOf(body)).toMatchObject({ iss: issuer, aud: context, sub: 'bdc@example.net', idp: originalIssuer })
  })

  test('A.2, delegation: the subject token names the actor, whose token is presented too', async () => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const subject = f.originalClaims({
      scope: 'status feed',
      sub: 'user@example.net',
      may_act: { sub: 'admin@example.net' },
    })
    const { status, body } = await f.exchange(await originalKey.sign(subject), {
      subject_token_type: typeOf('jwt'),
      actor_token: await originalKey.sign(f.originalClaims({ sub: 'admin@example.net' })),
      actor_token_type: typeOf('jwt'),
      resource: context,
      scope: 'status feed',
    })
    expect(status).toBe(200)
    expect(claimsOf(body)).toMatchObject({
      sub: 'user@example.net',
      act: { sub: 'admin@example.net', iss: originalIssuer },
    })
  })
})
