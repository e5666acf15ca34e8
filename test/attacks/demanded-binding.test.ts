/**
 * Attack: a thief has all that a client needs for a grant: its secret, a code, a refresh token, a password, an assertion. The
 * client has demanded bound tokens, so the thief asks without the key: with every grant type, of a client that was described
 * in any way. One place that forgets the demand issues a token which is useful to the thief.
 *
 * RFC 9449 section 5.2, RFC 8705 section 3.4 and RFC 9126 section 6.
 */
import { deviceGrantType, deviceVerification } from '@grantry/plugins/device-authorization'
import { basic, read, storeGrant } from '@grantry/testing'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import {
  badgeType,
  bearerType,
  exchangeType,
  idp,
  issuer,
  key,
  partner,
  type Service,
  scopesOfClient,
  ways,
} from '../bindings/described-clients.ts'
import { holder } from '../dpop/parties.ts'
import { certificate } from '../mtls/certificates.ts'
import { presented } from '../mtls/parties.ts'
import { proof, redirectUri } from '../support/fixture.ts'

const keyOfClient = await holder()
const certificateOfClient = presented(certificate())
const typeOf = (name: string): string => `urn:ietf:params:oauth:token-type:${name}`

const demands: Readonly<Record<string, readonly string[]>> = {
  dpop: ['dpopBoundAccessTokens'],
  certificate: ['tlsClientCertificateBoundAccessTokens'],
  'dpop and certificate': ['dpopBoundAccessTokens', 'tlsClientCertificateBoundAccessTokens'],
}

type Form = Readonly<Record<string, string>>

/** Sends a form, with what proves the keys of the client. */
async function send(
  { provider, clientId, secret, issuer: at = issuer }: Service,
  path: string,
  form: Form,
  proving: readonly string[],
) {
  const url = `${at}${path}`
  const request = new Request(url, {
    method: 'POST',
    headers: {
      ...(secret !== undefined && { authorization: basic([clientId, secret]) }),
      ...(proving.includes('dpop') && { dpop: await keyOfClient.prove({ htu: url }) }),
    },
    body: new URLSearchParams({ ...(secret === undefined && { client_id: clientId }), ...form }),
  })
  const clientCertificate = proving.includes('certificate') ? certificateOfClient : undefined
  return read(await provider.fetch(request, { clientCertificate, clientAddress: '192.0.2.1' }))
}

const both = ['dpop', 'certificate']
const times = { iat: 1_800_000_000, exp: 1_800_000_300 }
let count = 0

async function codeOf({ provider, clientId }: Service): Promise<Form> {
  const code = await storeGrant(provider, {
    kind: 'code',
    clientId,
    redirectUri,
    scopes: scopesOfClient,
    subject: { sub: '1', amr: ['pwd'], authTime: 1_800_000_000 },
    params: { code_challenge: proof.challenge, code_challenge_method: 'S256' },
  })
  return { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: proof.verifier }
}
const tokensOf = async (f: Service) => (await send(f, '/connect/token', await codeOf(f), both)).body
const assertionFor = async ({ issuer: at = issuer, clientId }: Service, iss: string, header = {}) => {
  count += 1
  const claims = { iss, sub: '1', aud: at, jti: `${count}`, client_id: clientId, scope: 'api1', ...times }
  return key.sign({ ...claims, resource: 'https://api1.example.com' }, header)
}

/** The forms of a client for each grant type, which have all but the key. */
const grants: Readonly<Record<string, (f: Service) => Promise<Form>>> = {
  authorization_code: codeOf,
  refresh_token: async (f) => ({ grant_type: 'refresh_token', refresh_token: (await tokensOf(f)).refresh_token }),
  async device_code(f) {
    const { body } = await send(f, '/connect/deviceauthorization', { scope: 'api1' }, [])
    const subject = { sub: '1', amr: ['pwd'], authTime: 1_800_000_000 }
    await f.provider.use(deviceVerification).approve(body.user_code, '192.0.2.1', { subject })
    return { grant_type: deviceGrantType, device_code: body.device_code }
  },
  'a grant type of a plugin': async () => ({ grant_type: badgeType, scope: 'api1' }),
  client_credentials: async () => ({ grant_type: 'client_credentials', scope: 'api1' }),
  password: async ({ passwordOfAlice: password = 'alice-password' }) => ({
    grant_type: 'password',
    username: 'alice',
    password,
    scope: 'api1',
  }),
  'jwt-bearer': async (f) => ({ grant_type: bearerType, assertion: await assertionFor(f, partner), scope: 'api1' }),
  'jwt-bearer with an identity assertion': async (f) => ({
    grant_type: bearerType,
    assertion: await assertionFor(f, idp, { typ: 'oauth-id-jag+jwt' }),
  }),
  'token-exchange': async (f) => ({
    grant_type: exchangeType,
    subject_token: (await tokensOf(f)).access_token,
    subject_token_type: typeOf('access_token'),
    scope: 'api1',
  }),
  'token-exchange for an identity assertion': async (f) => ({
    grant_type: exchangeType,
    requested_token_type: typeOf('id-jag'),
    audience: partner,
    resource: `${partner}/api`,
    subject_token: (await tokensOf(f)).id_token,
    subject_token_type: typeOf('id_token'),
  }),
}

const ofPublicClients = 4

describe.each(Object.entries(ways))('a client of %s', (_, describeWith) => {
  test.each(['dpop', 'certificate', 'dpop and certificate'])('that demands %s gets no other token', async (name) => {
    const f = await describeWith(demands[name] ?? [])
    const needed = both.filter((proving) => name.includes(proving))
    const confirmed = needed.map((proving) => (proving === 'dpop' ? 'jkt' : 'x5t#S256'))
    const names = Object.keys(grants)
      .slice(0, f.secret === undefined ? ofPublicClients : undefined)
      // Only the server of the assertions knows the clients that get them, by their ids.
      .filter((grant) => f.clientId === 'app' || !grant.endsWith('identity assertion'))
    const outcomes: Record<string, unknown> = {}
    for (const grant of names) {
      const form = (await grants[grant]?.(f)) ?? {}
      const unproved = [[], ...both.map((proving) => [proving])].filter(
        (proving) => !needed.every((kind) => proving.includes(kind)),
      )
      const refused = await Promise.all(unproved.map((proving) => send(f, '/connect/token', form, proving)))
      expect([grant, refused.filter(({ status, body }) => status !== 400 || body.error !== 'invalid_request')]).toEqual(
        [grant, []],
      )
      // The same form with the keys: only they were missing.
      const { body } = await send(f, '/connect/token', form, both)
      const { cnf = {} } = decodeJwt<{ cnf?: object }>(body.access_token)
      outcomes[grant] = Object.keys(cnf)
    }
    expect(outcomes).toEqual(
      Object.fromEntries(
        names.map((grant) => [
          grant,
          grant.endsWith('for an identity assertion') ? expect.anything() : expect.arrayContaining(confirmed),
        ]),
      ),
    )
  })

  test('that demands pushed requests gets no code for another request', async () => {
    const f = await describeWith(['requirePushedAuthorizationRequests'])
    const { issuer: at = issuer, clientId, provider } = f
    const asked = {
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid',
      code_challenge: proof.challenge,
      code_challenge_method: 'S256',
    }
    const authorize = async (form: Form, method: string) => {
      const [query, body] = [new URLSearchParams(form), method === 'POST' ? new URLSearchParams(form) : null]
      const url = `${at}/connect/authorize${method === 'POST' ? '' : `?${query}`}`
      const { headers } = await provider.fetch(new Request(url, { method, body }))
      return new URL(headers.get('location') ?? 'none:').searchParams.has('code')
    }
    expect([await authorize(asked, 'GET'), await authorize(asked, 'POST')]).toEqual([false, false])
    const { body } = await send(f, '/connect/par', asked, [])
    expect(await authorize({ client_id: clientId, request_uri: body.request_uri }, 'GET')).toBe(true)
  })
})
