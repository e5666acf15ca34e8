import type { JsonObject, Plugins } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { backChannelLogout } from '@grantry/plugins/back-channel-logout'
import { clientMetadata } from '@grantry/plugins/client-metadata'
import { dpop } from '@grantry/plugins/dpop'
import { mtls } from '@grantry/plugins/mtls'
import { proofKey } from '@grantry/plugins/proof-key'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { registration } from '@grantry/plugins/registration'
import { describe, expect, test } from 'vitest'
import { hostSignIn } from '../authorization/parties.ts'
import * as documents from '../client-metadata/parties.ts'
import { metadata, setUp } from './parties.ts'

const everything = () => [
  dpop(),
  mtls(),
  authorizationEndpoint({ interaction: hostSignIn, features: [pushedAuthorization(), backChannelLogout()] }),
]
const nothing = () => [authorizationEndpoint({ interaction: hostSignIn })]

const registering = (plugins: Plugins) =>
  setUp(
    {},
    {
      plugins: [
        authorizationCode(),
        proofKey(),
        refreshToken(),
        plugins,
        registration({ scopes: ['openid', 'offline_access', 'api1'], open: true }),
      ],
    },
  )

function describing(plugins: Plugins, document: object) {
  const hosts = documents.createHosts({ [documents.clientId]: { body: { ...documents.document, ...document } } })
  const more = [
    authorizationCode(),
    proofKey(),
    refreshToken(),
    plugins,
    clientMetadata({ scopes: ['mcp:tools', 'offline_access'], fetch: hosts.fetch }),
  ]
  return documents.setUp(hosts, {}, { plugins: more })
}

/** What a provider without the plugin does: `kept` does not depend on one. */
type Outcome = 'kept' | 'refused' | 'ignored'

/** A name, a value, and the outcome with all plugins and with none. */
const table: readonly [string, JsonObject[string], Outcome, Outcome][] = [
  ['dpop_bound_access_tokens', true, 'kept', 'refused'],
  ['dpop_bound_access_tokens', false, 'kept', 'ignored'],
  ['dpop_bound_access_tokens', 'true', 'refused', 'refused'],
  ['tls_client_certificate_bound_access_tokens', true, 'kept', 'refused'],
  ['tls_client_certificate_bound_access_tokens', false, 'kept', 'ignored'],
  ['require_pushed_authorization_requests', true, 'kept', 'refused'],
  ['require_pushed_authorization_requests', false, 'kept', 'ignored'],
  ['require_signed_request_object', true, 'refused', 'refused'],
  ['require_signed_request_object', false, 'ignored', 'ignored'],
  ['request_object_signing_alg', 'ES256', 'ignored', 'ignored'],
  ['request_object_encryption_alg', 'RSA-OAEP', 'ignored', 'ignored'],
  ['authorization_signed_response_alg', 'ES256', 'ignored', 'ignored'],
  ['initiate_login_uri', 'https://app.example.com/login', 'kept', 'kept'],
  ['initiate_login_uri', 'http://app.example.com/login', 'ignored', 'ignored'],
  ['default_max_age', 600, 'kept', 'kept'],
  ['default_max_age', '600', 'refused', 'refused'],
  ['default_max_age', -1, 'refused', 'refused'],
  ['require_auth_time', true, 'kept', 'kept'],
  ['require_auth_time', false, 'ignored', 'ignored'],
  ['id_token_signed_response_alg', 'ES256', 'kept', 'kept'],
  ['id_token_signed_response_alg', 'PS512', 'refused', 'refused'],
  ['id_token_signed_response_alg', 'none', 'refused', 'refused'],
  ['id_token_signed_response_alg', 'HS256', 'refused', 'refused'],
  ['id_token_encrypted_response_alg', 'RSA-OAEP', 'refused', 'refused'],
  ['userinfo_signed_response_alg', 'ES256', 'refused', 'refused'],
  ['userinfo_encrypted_response_alg', 'RSA-OAEP', 'refused', 'refused'],
  ['subject_type', 'pairwise', 'refused', 'refused'],
  ['subject_type', 'public', 'ignored', 'ignored'],
  ['backchannel_logout_uri', 'https://app.example.com/out', 'kept', 'ignored'],
  ['backchannel_logout_session_required', true, 'kept', 'ignored'],
  ['tls_client_auth_subject_dn', 'CN=app', 'refused', 'refused'],
  ['default_acr_values', ['silver'], 'ignored', 'ignored'],
  ['constructor', 'x', 'ignored', 'ignored'],
  ['dpop_bound_access_tokens', null, 'ignored', 'ignored'],
]

const cases = table.flatMap(([name, value, withAll, without]) => [
  { name, value, outcome: withAll, has: 'all plugins', plugins: everything },
  { name, value, outcome: without, has: 'none of them', plugins: nothing },
])

describe('metadata of a client', () => {
  test.each(cases)('registered: $name $value is $outcome with $has', async ({ name, value, outcome, plugins }) => {
    const f = await registering(plugins())
    const { status, body } = await f.register({ ...metadata, [name]: value })
    expect([status, body.error]).toEqual(outcome === 'refused' ? [400, 'invalid_client_metadata'] : [201, undefined])
    if (outcome === 'refused') expect(body.error_description).toMatch(new RegExp(`^${name} `, 'u'))
    else expect(Object.hasOwn(body, name) ? body[name] : undefined).toEqual(outcome === 'kept' ? value : undefined)
    if (outcome !== 'kept') return
    // Another process, or another day: the stored registration describes the same client.
    const read = await f.send(body.registration_client_uri, { method: 'GET', token: body.registration_access_token })
    expect(read.body[name]).toEqual(value)
  })

  test.each(cases)('in a document: $name $value is $outcome with $has', async ({ name, value, outcome, plugins }) => {
    const f = await describing(plugins(), { [name]: value })
    const { status } = await f.authorize()
    const reasons = f.failures().filter((reason) => /demand_unsupported|metadata_malformed/u.test(reason))
    const mustPush = name === 'require_pushed_authorization_requests' && outcome === 'kept' && value === true
    expect([reasons.length, status === 400]).toEqual(outcome === 'refused' ? [1, true] : [0, mustPush])
  })
})

describe('a client that demands protection gets no less', () => {
  const form = {
    grant_type: 'authorization_code',
    redirect_uri: documents.redirectUri,
    code_verifier: documents.verifier,
  }

  test.each(['dpop_bound_access_tokens', 'tls_client_certificate_bound_access_tokens'])(
    'registered with %s, it gets no bearer token',
    async (name) => {
      const f = await registering(everything())
      const client = await f.registered({ [name]: true })
      const { code } = await f.authorize(client)
      const { status, body } = await f.post('token', { ...form, code, client_id: client.client_id })
      expect(status).toBe(400)
      expect(body).not.toHaveProperty('access_token')
    },
  )

  test.each(['dpop_bound_access_tokens', 'tls_client_certificate_bound_access_tokens'])(
    'described with %s, it gets no bearer token',
    async (name) => {
      const f = await describing(everything(), { [name]: true })
      const { code } = await f.authorize({ scope: 'mcp:tools' })
      const { status, body } = await f.redeem(code)
      expect(status).toBe(400)
      expect(body).not.toHaveProperty('access_token')
    },
  )

  test('with require_pushed_authorization_requests, it gets no code for a plain request', async () => {
    const f = await registering(everything())
    const client = await f.registered({ require_pushed_authorization_requests: true })
    expect((await f.authorize(client)).code).toBe('')
    const d = await describing(everything(), { require_pushed_authorization_requests: true })
    expect((await d.authorize()).code).toBeUndefined()
  })
})
