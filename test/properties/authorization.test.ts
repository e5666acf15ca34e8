import { createHash } from 'node:crypto'
import { decodeJwt, defineGrant, type JsonObject, OAuthError } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { deviceAuthorization, deviceGrantType, deviceVerification } from '@grantry/plugins/device-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import {
  createTestProvider,
  type NewGrant,
  sha256Of,
  storeGrant,
  type TestResponse,
  testClient,
} from '@grantry/testing'
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { authorizationEntries } from '../../packages/core/src/records/authorization.ts'

// A grant that returns only what it redeems loses nothing: what was authorized is in the tokens, also after a refresh.

/** The grant of the guide to custom grants, with an identity token. */
const linkGrant = defineGrant({
  grantType: 'urn:example:link',
  params: v.object({ link: v.string() }),
  scope: 'ignored',
  stored: { kind: 'link' },
  async handle({ client, params }, kit) {
    const stored = await kit.findGrant('link', params.link)
    if (stored === undefined || stored.clientId !== client.clientId) {
      throw new OAuthError('invalid_grant', 'The link is not valid', { reason: 'plugin:link:unknown' })
    }
    return { redeems: [stored], issue: { identityToken: true } }
  },
})

type Authorized = Omit<NewGrant, 'kind' | 'clientId' | 'scopes'> & { readonly scopes: readonly string[] }

const [clientId, secret] = testClient
const redirectUri = 'https://client.example.com/callback'

async function setUp() {
  const f = await createTestProvider({
    plugins: [
      authorizationCode(),
      refreshToken(),
      deviceAuthorization({ verificationUri: 'https://example.com/device' }),
      linkGrant,
    ],
    users: { claims: () => ({ name: 'Alice', email: 'alice@example.com' }) },
    clients: [
      {
        clientId,
        secrets: [{ sha256: sha256Of(secret) }],
        grantTypes: ['authorization_code', 'refresh_token', deviceGrantType, linkGrant.grantType],
        scopes: ['openid', 'profile', 'email', 'offline_access', 'api1'],
        redirectUris: [redirectUri],
      },
    ],
  })
  const { provider, post } = f
  const token = (form: Record<string, string>) => post('token', form, testClient)
  /** Stores what was authorized, and redeems it. */
  const grants: Readonly<Record<string, (grant: Authorized) => Promise<TestResponse>>> = {
    async code(grant) {
      const code = await storeGrant(provider, { kind: 'code', clientId, redirectUri, ...grant })
      return token({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })
    },
    async device(grant) {
      const { body } = await post('deviceAuthorization', { scope: grant.scopes.join(' ') }, testClient)
      const credentialHash = createHash('sha256').update(body.device_code).digest('base64url')
      await storeGrant(provider, { kind: 'device', clientId, credentialHash, ...grant })
      await provider.use(deviceVerification).approve(body.user_code, '192.0.2.1', grant)
      return token({ grant_type: deviceGrantType, device_code: body.device_code })
    },
    async link(grant) {
      const link = await storeGrant(provider, { kind: 'link', clientId, ...grant })
      return token({ grant_type: linkGrant.grantType, link })
    },
  }
  return { ...f, grants, token }
}

/** The members that a host authorizes. Each is left out in some of the runs. */
const authorized: fc.Arbitrary<Authorized> = fc.record(
  {
    subject: fc.record({
      sub: fc.constantFrom('1', '2'),
      amr: fc.constant(['mfa']),
      acr: fc.constantFrom('low', 'high'),
    }),
    scopes: fc.subarray(['profile', 'api1']).map((more) => ['openid', 'offline_access', ...more]),
    claims: fc.dictionary(fc.constantFrom('tenant', 'role_of'), fc.oneof(fc.string(), fc.array(fc.integer()))),
    identityClaims: fc.record({ sid: fc.string() }),
    requestedClaims: fc.record({ userinfo: fc.constant(['name']), identityToken: fc.constant(['email']) }),
    nonce: fc.string({ minLength: 1, maxLength: 20 }),
  },
  { requiredKeys: ['subject', 'scopes'] },
)

/** What the core keeps and settles itself, with the tests that prove it. */
const provedElsewhere = {
  audience: 'resource-indicators/values.test.ts',
  redirectUri: 'authorization-code/authorization-code.test.ts',
  demands: 'authorization-code/proof-key.test.ts',
}

const claimsIn = (jwt: string): JsonObject => decodeJwt(jwt)?.claims ?? {}

/** Checks that a token response has everything that was authorized. */
function expectAll({ status, body }: TestResponse, grant: Authorized, nonce: string | undefined): void {
  expect(status, JSON.stringify(body)).toBe(200)
  const { subject, scopes, claims, identityClaims, requestedClaims } = grant
  const access = claimsIn(body.access_token)
  expect(new Set(body.scope.split(' '))).toEqual(new Set(scopes))
  expect(access).toMatchObject({ sub: subject.sub, acr: subject.acr, amr: subject.amr, ...claims })
  const { email, ...identity } = claimsIn(body.id_token)
  expect(identity).toMatchObject({ sub: subject.sub, acr: subject.acr, amr: subject.amr, ...identityClaims })
  expect(identity.nonce).toBe(nonce)
  expect(email).toBe(requestedClaims && 'alice@example.com')
}

describe('an authorization', () => {
  test.each(['code', 'device', 'link'])('of the kind %s is in its tokens, also after two refreshes', async (kind) => {
    const { grants, token, get } = await setUp()
    await fc.assert(
      fc.asyncProperty(authorized, async (grant) => {
        let response = await grants[kind]?.(grant)
        expectAll(response as TestResponse, grant, grant.nonce)
        for (let refreshes = 0; refreshes < 2; refreshes += 1) {
          response = await token({ grant_type: 'refresh_token', refresh_token: response?.body.refresh_token })
          // OpenID Connect Core section 12.2: the nonce is that of the first identity token.
          expectAll(response, grant, undefined)
        }
        const { body } = await get('userinfo', {}, { authorization: `Bearer ${response?.body.access_token}` })
        const isRequested = grant.requestedClaims !== undefined || grant.scopes.includes('profile')
        expect(body.name).toBe(isRequested ? 'Alice' : undefined)
      }),
      { numRuns: 40 },
    )
  })

  test('has no member that these tests do not know', async () => {
    const generated = fc.sample(authorized, 200).flatMap(Object.keys)
    expect(new Set([...generated, ...Object.keys(provedElsewhere)])).toEqual(new Set(Object.keys(authorizationEntries)))
  })
})
