import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { deviceAuthorization, deviceGrantType, deviceVerification } from '@grantry/plugins/device-authorization'
import { dpop } from '@grantry/plugins/dpop'
import { type JwtBearerOptions, jwtBearer } from '@grantry/plugins/jwt-bearer'
import { jwtIntrospection } from '@grantry/plugins/jwt-introspection'
import { password } from '@grantry/plugins/password'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { tokenExchange } from '@grantry/plugins/token-exchange'
import { type CaseContext, testPlugin } from '@grantry/testing'
import { SignJWT } from 'jose'
import { describe, test } from 'vitest'
import { keyHolder } from '../dpop/dpop.ts'
import { createIssuerKey } from '../support/trusted-issuer.ts'

// Our own plugins follow the rules that the kit checks for every plugin.

const sharedSecret = 'a shared secret of at least 32 bytes'

/** The claims of a client assertion. */
function assertionClaims({ clientId, provider, clock }: CaseContext) {
  assertions += 1
  return { iss: clientId, sub: clientId, aud: provider.issuer, jti: `${assertions}`, exp: clock.now() + 60 }
}

const signWithSecret = (claims: object): Promise<string> =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(sharedSecret))

const presenting = (client_assertion: string) => ({
  form: { client_assertion, client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' },
})

const redirect_uri = 'https://client.example.com/callback'
const code_verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
// RFC 7636 appendix B.
const params = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' }

const codeCase = {
  succeeds: async ({ authorize }: { authorize(more: object): Promise<string> }) => ({
    code: await authorize({ params, redirectUri: redirect_uri }),
    redirect_uri,
    code_verifier,
  }),
  refused: [
    { with: { code: 'unknown' } },
    { with: { redirect_uri: 'https://client.example.com/other' } },
    { with: { code_verifier: undefined } },
    { with: { code_verifier: 'x'.repeat(43) } },
  ],
}

const idp = 'https://jwt-idp.example.com'
const key = await createIssuerKey()
const otherKey = await createIssuerKey()
const bearer: JwtBearerOptions = {
  issuers: [{ issuer: idp, jwks: { keys: [key.jwk] } }],
  subject: ({ sub }) => ({ sub, amr: ['assertion'], idp }),
}
let assertions = 0

// Side by side, because most of the time is injected latency.
describe.concurrent('testPlugin() finds nothing in', () => {
  test('client-credentials', () => testPlugin(clientCredentials, { grants: { client_credentials: { succeeds: {} } } }))

  test('password', () =>
    testPlugin(password, {
      grants: {
        password: {
          succeeds: { username: 'alice', password: 'alice-password', acr_values: 'tenant:one' },
          refused: [{ with: { password: 'wrong-password' } }, { with: { username: 'mallory' } }],
        },
      },
    }))

  test('authorization-code with proof-key', () =>
    testPlugin(() => [authorizationCode(), proofKey()], { grants: { authorization_code: codeCase } }))

  test('proof-key', () =>
    testPlugin(proofKey, { plugins: [authorizationCode()], grants: { authorization_code: codeCase } }))

  test('refresh-token', () =>
    testPlugin(refreshToken, {
      grants: {
        refresh_token: {
          succeeds: async ({ issue }) => ({ refresh_token: (await issue('api1 offline_access')).refresh_token }),
          refused: [{ with: { refresh_token: 'unknown' } }],
          scope: 'api1 offline_access',
        },
      },
    }))

  test('device-authorization', () =>
    testPlugin(() => deviceAuthorization({ page: { signIn: () => ({ sub: 'alice', amr: ['pwd'] }) } }), {
      endpoints: {
        deviceVerification: { succeeds: {}, refused: [{ with: { decision: 'other' } }] },
        deviceAuthorization: {
          succeeds: { scope: 'api1' },
          refused: [{ with: { scope: 'unknown' }, error: 'invalid_scope' }],
        },
      },
      grants: {
        [deviceGrantType]: {
          async succeeds({ provider, post, client, clientId }) {
            const form = { scope: 'api1', ...(client === undefined && { client_id: clientId }) }
            const { body } = await post('deviceAuthorization', form, client)
            const subject = { sub: 'alice', amr: ['pwd'] }
            await provider.use(deviceVerification).approve(body.user_code, '192.0.2.1', { subject })
            return { device_code: body.device_code }
          },
          refused: [
            { with: { device_code: 'unknown' } },
            {
              with: async ({ post, client }) => ({
                device_code: (await post('deviceAuthorization', { scope: 'api1' }, client)).body.device_code,
              }),
              error: 'authorization_pending',
            },
          ],
        },
      },
    }))

  test('resource-indicators', () =>
    testPlugin(resourceIndicators, {
      plugins: [clientCredentials()],
      options: { scopes: [{ name: 'api1', audience: 'https://api1.example.com' }] },
      grants: {
        client_credentials: {
          succeeds: { resource: 'https://api1.example.com' },
          refused: [
            { with: { resource: 'https://api2.example.com' }, error: 'invalid_target' },
            { with: { resource: 'not a URI' }, error: 'invalid_target' },
          ],
        },
      },
    }))

  test('jwt-introspection', () => testPlugin(jwtIntrospection, {}))

  test('client-assertion', () =>
    testPlugin(() => clientAssertion({ secretOf: () => sharedSecret }), {
      methods: {
        private_key_jwt: {
          client: { jwks: { keys: [key.jwk] } },
          authenticate: async (context) => presenting(await key.sign(assertionClaims(context))),
          refused: [async (context) => presenting(await otherKey.sign(assertionClaims(context)))],
          singleUse: true,
        },
        client_secret_jwt: {
          client: { clientId: 'hmac-client', tokenEndpointAuthMethod: 'client_secret_jwt' },
          authenticate: async (context) => presenting(await signWithSecret(assertionClaims(context))),
          singleUse: true,
        },
      },
    }))

  test('dpop', async () => {
    const keys = { first: await keyHolder(), second: await keyHolder() }
    await testPlugin(() => dpop(), {
      bindings: {
        jkt: {
          prove: async ({ method, url, accessToken, key }, { clock }) => ({
            dpop: await keys[key].proof({ method, url, token: accessToken, at: clock.now() }),
          }),
          refused: [
            async ({ url, key }, { clock }) => ({
              dpop: await keys[key].proof({ method: 'GET', url, at: clock.now() }),
            }),
          ],
        },
      },
    })
  })

  test('token-exchange', () =>
    testPlugin(() => tokenExchange({ allow: () => true }), {
      grants: {
        'urn:ietf:params:oauth:grant-type:token-exchange': {
          succeeds: async ({ issue }) => ({
            subject_token: (await issue('api1')).access_token,
            subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          }),
          refused: [{ with: { subject_token: 'unknown' } }],
          singleUse: false,
          scope: 'api1',
        },
      },
    }))

  test('jwt-bearer', () =>
    testPlugin(() => jwtBearer(bearer), {
      grants: {
        'urn:ietf:params:oauth:grant-type:jwt-bearer': {
          async succeeds({ provider, clock }) {
            assertions += 1
            const claims = {
              iss: idp,
              sub: 'alice',
              aud: provider.issuer,
              exp: clock.now() + 300,
              jti: `${assertions}`,
            }
            return { assertion: await key.sign(claims) }
          },
          refused: [
            { with: { assertion: 'a.b.c' } },
            { with: async () => ({ assertion: await key.sign({ iss: idp }) }) },
          ],
        },
      },
    }))
})
