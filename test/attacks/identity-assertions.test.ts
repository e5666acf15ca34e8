/**
 * Attack: a client with valid credentials of its own, or who has captured the identity assertion (ID-JAG) of another one,
 * wants access to an MCP server for a user of whom the identity provider has not decided so. It forges the assertion,
 * presents another JWT as one, one as another JWT, presents it again, or asks for more than it contains. An identity
 * provider that is trusted for its own users names those of another one.
 *
 * draft-ietf-oauth-identity-assertion-authz-grant-04 sections 4.4.1 and 8; RFC 8725 sections 3.1, 3.8 to 3.11.
 */
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { dpop } from '@grantry/plugins/dpop'
import { jwtBearer } from '@grantry/plugins/jwt-bearer'
import { tokenExchange } from '@grantry/plugins/token-exchange'
import { createTestClock } from '@grantry/testing'
import { decodeJwt, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import {
  atChat,
  atIdp,
  bearer,
  chat,
  chatServer,
  exchange,
  identityProvider,
  idp,
  key,
  otherClient,
  typ,
  typeOf,
} from '../id-jag/jag-parties.ts'
import { createIssuerKey } from '../support/trusted-issuer.ts'

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const attacker = await createIssuerKey('16')

describe('an assertion that the identity provider has not signed', () => {
  test('is refused, whatever its header says', async () => {
    const f = await chatServer()
    const claims = f.claims()
    const hmac = (secret: string) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: '16', typ })
        .sign(new TextEncoder().encode(secret.padEnd(32, 'x')))
    const unsigned = (signature: string) =>
      `${encoded({ alg: 'none', typ, kid: '16' })}.${encoded(claims)}.${signature}`
    const changed = (await f.signed()).replace(/\.[^.]+\./u, `.${encoded({ ...claims, sub: 'eve' })}.`)
    for (const [forged, reason] of [
      [unsigned('AAAA'), 'algorithm_not_allowed'],
      [unsigned(''), 'malformed'],
      [await hmac(JSON.stringify(key.jwk)), 'algorithm_not_allowed'],
      [await hmac(String(key.jwk.x)), 'algorithm_not_allowed'],
      [changed, 'signature_mismatch'],
      [await attacker.sign(claims, { typ }), 'signature_mismatch'],
      [await attacker.sign(claims, { typ, kid: '17' }), 'key_unknown'],
      [await attacker.sign(claims, { typ, jwk: attacker.jwk }), 'signature_mismatch'],
      [await attacker.sign(claims, { typ, jku: 'https://evil.example/keys' }), 'signature_mismatch'],
    ] as const) {
      expect(await f.outcomeOf(forged)).toBe(reason)
    }
  })

  test('is refused if it is signed with the key of another trusted issuer', async () => {
    const evil = 'https://evil.idp.example'
    const accept = {
      issuers: [
        { issuer: idp, jwks: { keys: [key.jwk] } },
        { issuer: evil, jwks: { keys: [attacker.jwk] } },
      ],
    }
    const f = await chatServer({}, accept)
    expect(await f.outcomeOf(await attacker.sign(f.claims(), { typ }))).toBe('signature_mismatch')
    const ofEvil = await f.redeem(await attacker.sign(f.claims({ iss: evil }), { typ }))
    const ofIdp = await f.redeem(await f.signed())
    // Its user with the same name is another one.
    expect(decodeJwt(ofEvil.body.access_token).sub).not.toBe(decodeJwt(ofIdp.body.access_token).sub)
  })

  test('is refused after the identity provider has replaced its keys, and while its keys are not to be had', async () => {
    let keys: () => Response = () => Response.json({ keys: [key.jwk] })
    const clock = createTestClock()
    const settings = { jwksUri: { fetch: async () => keys() } }
    const f = await chatServer({ jwks: undefined, jwksUri: `${idp}/keys` }, settings, { clock })
    expect(await f.outcomeOf(await f.signed())).toBe('accepted')
    keys = () => Response.json({ keys: [attacker.jwk] })
    clock.advance(601)
    expect(await f.outcomeOf(await f.signed())).toBe('signature_mismatch')
    for (const hostile of [
      () => new Response('', { status: 302, headers: { location: 'http://169.254.169.254/' } }),
      () => new Response('x'.repeat(100_000)),
      () => Response.json({ keys: Array.from({ length: 51 }, () => key.jwk) }),
      () => Response.json('['.repeat(5000)),
    ]) {
      keys = hostile
      clock.advance(601)
      expect(await f.outcomeOf(await f.signed())).toBe('keys_unavailable')
    }
  })
})

describe('a JWT of another kind', () => {
  test.each([
    undefined,
    'JWT',
    'at+jwt',
    'client-authentication+jwt',
    'dpop+jwt',
    'logout+jwt',
    'oauth-id-jag',
    `${typ}+jwt`,
  ])('is not an identity assertion: %s', async (wrong) => {
    const f = await chatServer()
    expect(await f.outcomeOf(await key.sign(f.claims(), wrong === undefined ? {} : { typ: wrong }))).toBe(
      'typ_unsupported',
    )
  })

  test('an assertion of RFC 7523 is judged by its own rules, and an identity assertion is none', async () => {
    const issuers = [{ issuer: idp, jwks: { keys: [key.jwk] } }]
    const both = await chatServer({}, {}, { plugins: jwtBearer({ issuers, subject: () => undefined }) })
    expect((await both.redeem(await key.sign(both.claims()), { scope: 'chat.read' })).failure).toBe(
      'plugin:jwt-bearer:subject_unknown',
    )
    expect(await both.outcomeOf(await both.signed())).toBe('accepted')
  })

  test('an assertion that the identity provider has issued is of no use to it', async () => {
    const f = await identityProvider(
      {},
      {
        plugins: [
          dpop({ nonce: false }),
          clientAssertion(),
          jwtBearer({ issuers: [{ issuer: idp, jwks: { keys: [key.jwk] } }] }),
          tokenExchange({ allow: () => true }),
        ],
      },
      { clients: [{ clientId: atIdp[0], scopes: ['openid'] }] },
    )
    const { id_token: identityToken, access_token: accessToken } = await f.signIn()
    const { access_token: assertion } = (await f.request(identityToken)).body
    const asToken = await f.get('userinfo', {}, { authorization: `Bearer ${assertion}` })
    expect(asToken.status).toBe(401)
    expect((await f.get('userinfo', {}, { authorization: `Bearer ${accessToken}` })).status).toBe(200)
    const asIdentity = await f.post('identityTokenValidation', { token: assertion, client_id: atIdp[0] })
    expect(asIdentity.status).toBe(400)
    for (const type of ['id_token', 'access_token', 'jwt', 'refresh_token']) {
      const exchanged = {
        ...f.form(assertion),
        subject_token_type: typeOf(type),
        requested_token_type: typeOf('access_token'),
      }
      expect([type, (await f.send(exchanged, atIdp)).body.error]).toEqual([type, 'invalid_request'])
      const again = await f.request(assertion, { subject_token_type: typeOf(type) })
      expect([type, again.body.error]).toEqual([type, 'invalid_request'])
    }
    const asProof = await f.request(identityToken, {}, atIdp, { dpop: assertion })
    expect(asProof.body.error).toBe('invalid_dpop_proof')
    const asClient = await f.post('token', {
      ...f.form(identityToken),
      client_assertion: assertion,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    })
    expect([asClient.body.error, asClient.failure]).toEqual([
      'invalid_client',
      'plugin:client-assertion:typ_unsupported',
    ])
  })

  test('section 8.3: a server gives no token for an assertion that it has issued itself', async () => {
    const keys = (await (await identityProvider()).get('jwks')).body
    const f = await chatServer({}, { issuers: [{ issuer: chat, jwks: keys }] })
    expect(await f.outcomeOf(await f.signed({ iss: chat }))).toBe('issuer_unknown')
  })
})

describe('a captured assertion', () => {
  test('is of no use to another client', async () => {
    const f = await chatServer()
    const assertion = await f.signed()
    expect(await f.outcomeOf(assertion, {}, otherClient)).toBe('client_mismatch')
    // The attempt does not spend it.
    expect(await f.outcomeOf(assertion)).toBe('accepted')
  })

  test('is of no use twice, at any time', async () => {
    const f = await chatServer()
    const assertion = await f.signed()
    expect(await f.outcomeOf(assertion)).toBe('accepted')
    const outcomes = new Set<unknown>()
    for (let second = 0; second < 480; second += 5) {
      outcomes.add(await f.outcomeOf(assertion))
      f.clock.advance(5)
    }
    expect([...outcomes]).toEqual(['redemption_replayed', 'expired'])
  })

  test('with the id of an assertion of another issuer is another one', async () => {
    const partner = 'https://partner.idp.example'
    const issuers = [idp, partner].map((issuer) => ({ issuer, jwks: { keys: [key.jwk] } }))
    const f = await chatServer({}, { issuers })
    expect(await f.outcomeOf(await f.signed({ jti: 'x' }))).toBe('accepted')
    expect(await f.outcomeOf(await f.signed({ jti: 'x', iss: partner }))).toBe('accepted')
    expect(await f.outcomeOf(await f.signed({ jti: 'x', sub: 'U2' }))).toBe('redemption_replayed')
  })

  test('that is bound to a key is of no use without it', async () => {
    const { holder } = await import('../dpop/parties.ts')
    const f = await chatServer({}, {}, { plugins: dpop({ nonce: false }) })
    const [client, thief] = [await holder('ES256', f.clock.now), await holder('ES256', f.clock.now)]
    const assertion = await f.signed({ cnf: { jkt: client.thumbprint } })
    const withProof = async ({ prove }: typeof client) => ({ dpop: await prove({ htu: `${chat}/connect/token` }) })
    expect((await f.redeem(assertion)).failure).toBe('proof_missing')
    expect((await f.redeem(assertion, {}, atChat, await withProof(thief))).failure).toBe('wrong_key')
    const { body } = await f.redeem(assertion, {}, atChat, await withProof(client))
    expect([body.token_type, decodeJwt(body.access_token).cnf]).toEqual(['DPoP', { jkt: client.thumbprint }])
  })
})

test('an assertion of megabytes is refused without being read', async () => {
  const f = await chatServer()
  expect(await f.outcomeOf(await f.signed({ jti: 'x'.repeat(9000) }))).toBe('too_long')
  const huge = await f.redeem(await f.signed({ jti: 'x'.repeat(2_000_000) }))
  expect(huge.status).toBe(413)
})

test('a public client gets no assertion for an identity token that it has', async () => {
  const clients = [{ clientId: atIdp[0], public: true, grantTypes: [exchange], scopes: ['openid'] }]
  await expect(identityProvider({}, { clients })).rejects.toThrow(/agent is public but uses .*token-exchange/u)
  const open = [{ clientId: atChat[0], public: true, grantTypes: [bearer], scopes: ['chat.read'] }]
  await expect(chatServer({}, {}, { clients: open })).rejects.toThrow(/is public but uses .*jwt-bearer/u)
})
