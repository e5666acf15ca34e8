import {
  type ClientOptions,
  defineClientSource,
  defineEndpoint,
  defineGrant,
  definePlugin,
  OAuthError,
  storedKeys,
} from '@grantry/core'
import { basic, type Credentials, mapDriver } from '@grantry/testing'
import * as v from 'valibot'
import {
  api1,
  builtInPlugins,
  clients,
  type Fixture,
  fixture,
  proof,
  redirectUri,
  spaClientId,
  testUsers,
  web,
  webJwt,
} from '../support/fixture.ts'

const badge = defineGrant({
  grantType: 'urn:example:badge',
  params: v.object({ assertion: v.string() }),
  handle({ params: { assertion }, scopes }, kit) {
    if (assertion.startsWith('refused')) {
      throw new OAuthError('access_denied', 'No', { reason: 'plugin:badge:refused', cause: new Error('no such badge') })
    }
    if (assertion.startsWith('failing')) throw new Error('the badge reader is broken')
    return { subject: { sub: '1', amr: ['badge'] }, scopes, redeems: [kit.redemption(assertion, kit.now() + 60)] }
  },
})

const inbox = definePlugin('inbox', [
  defineEndpoint({
    name: 'inbox',
    path: '/connect/inbox',
    methods: ['POST'],
    caller: 'scope',
    params: v.object({ token: v.string() }),
    handle: () => ({ json: null }),
  }),
])

/** Texts that must occur nowhere, starting with those that always exist. */
export type Secrets = Set<string>

function note(secrets: Secrets, ...texts: readonly (string | undefined)[]): void {
  for (const secret of texts) {
    if (secret === undefined || secret.length < 8) continue
    secrets.add(secret)
    // For a JWT each part, so that half of one does not slip through.
    if (secret.split('.').length === 3) for (const part of secret.split('.')) if (part.length > 60) secrets.add(part)
  }
}

const secretFields = /token$|^code|secret|password|assertion|verifier/u

/** Every grant and endpoint, with valid and invalid requests, and every secret that was sent or returned. */
export async function scenario(): Promise<{ f: Fixture; secrets: Secrets; refusals: string }> {
  const secrets: Secrets = new Set()
  let refusals = ''
  const items = new Map<string, string>()
  const good = mapDriver(items)
  const outage = { now: false }
  const { service, users } = testUsers()
  const rows = clients.map((client) => ({
    ...client,
    ...(!client.public && { grantTypes: [...(client.grantTypes ?? []), badge.grantType] }),
    ...(client.clientId === 'other' && { refreshToken: { gracePeriod: 5 } }),
    ...(client.clientId === web[0] && {
      secrets: [{ sha256: 'stored-secret-in-plain-text' }, ...(client.secrets ?? [])],
    }),
  }))
  const malformed = { clientId: 'malformed', secret: 'plain-secret-of-a-client' } as ClientOptions
  const source = defineClientSource({ find: (id) => (id === malformed.clientId ? malformed : undefined) })
  const f = await fixture({
    plugins: [...builtInPlugins, badge, inbox, definePlugin('source', [source])],
    clients: { find: (id) => rows.find(({ clientId }) => clientId === id) },
    users: service,
    storage: {
      ...good,
      getItem(key) {
        if (outage.now) throw new Error('connection lost')
        return good.getItem(key)
      },
    },
    keys: storedKeys(),
    abuseControl: { passwords: { perUser: { failures: 1, window: 1 } } },
  })
  note(secrets, 'stored-secret-in-plain-text', 'plain-secret-of-a-client')
  const noteKeys = () => {
    for (const item of items.values()) for (const [, d] of item.matchAll(/"d":"([^"]+)"/gu)) note(secrets, d)
  }

  const post = async (endpoint: Parameters<Fixture['post']>[0], form: Record<string, string>, as?: Credentials) => {
    for (const [name, value] of Object.entries(form)) if (secretFields.test(name)) note(secrets, value)
    if (as !== undefined) note(secrets, as[1], basic(as), basic(as).slice('Basic '.length))
    const response = await f.post(endpoint, form, as)
    const { access_token, refresh_token, id_token } = response.body ?? {}
    note(secrets, access_token, refresh_token, id_token)
    if (response.status >= 400) refusals += JSON.stringify([response.body, ...response.headers])
    return response
  }
  const bearer = async (authorization: string, query: Record<string, string> = {}) => {
    note(secrets, authorization, authorization.slice(authorization.indexOf(' ') + 1), ...Object.values(query))
    const response = await f.get('userinfo', query, { authorization })
    if (response.status >= 400) refusals += JSON.stringify([response.body, ...response.headers])
  }
  const newCode = async (more: Parameters<Fixture['code']>[0] = {}) => {
    const code = await f.code(more)
    note(secrets, code)
    return code
  }
  const scope = 'openid profile offline_access api1'
  const user = { grant_type: 'password', username: 'alice', scope }

  // The caller: right, wrong, partial, twice, with another scheme.
  await post('token', { grant_type: 'client_credentials', scope: 'api1', client_id: web[0], client_secret: web[1] })
  await post('token', { grant_type: 'client_credentials', scope: 'api1' }, ['other', 'other-secret'])
  await post('token', { grant_type: 'client_credentials', scope: 'api1' }, ['web', 'wrong-client-secret-1'])
  await post('token', { grant_type: 'client_credentials', scope: 'api1' }, ['unknown', 'wrong-client-secret-2'])
  await post('token', { grant_type: 'client_credentials', scope: 'api1' }, ['malformed', 'wrong-client-secret-5'])
  await post('token', { grant_type: 'client_credentials', client_secret: 'wrong-client-secret-3', scope: 'api1' }, web)
  await post('token', { client_id: spaClientId, client_secret: 'wrong-client-secret-4' })

  for (const client of [web, webJwt]) {
    // Users.
    const issued = (await post('token', { ...user, password: 'alice-password' }, client)).body
    await post('token', { ...user, password: 'wrong-password-one' }, client)
    await post('token', { ...user, username: 'absent', password: 'wrong-password-two' }, client)
    await post('token', { ...user, password: 'alice-password', scope: 'unknown' }, client)
    // Codes.
    const code = await newCode({ clientId: client[0], codeChallenge: proof.challenge })
    const redeem = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    await post('token', { ...redeem, code_verifier: 'wrong-verifier'.repeat(4) }, client)
    await post('token', { ...redeem, code_verifier: proof.verifier, redirect_uri: 'https://evil.example.com' }, client)
    await post('token', { ...redeem, code_verifier: proof.verifier }, ['other', 'other-secret'])
    const tokens = (await post('token', { ...redeem, code_verifier: proof.verifier }, client)).body
    await post('token', { ...redeem, code: 'unknown-code', code_verifier: proof.verifier }, client)
    const guessed = { ...redeem, code: await newCode({ clientId: client[0], codeChallenge: proof.challenge }) }
    for (let guess = 0; guess < 10; guess += 1) {
      await post('token', { ...guessed, code_verifier: `guessed-verifier-${guess}`.padEnd(43, 'x') }, client)
    }
    await post('token', { ...guessed, code_verifier: proof.verifier }, client)
    // Refresh tokens.
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    await post('token', { ...refresh, scope: 'api2' }, client)
    await post('token', { ...refresh, scope: 'api1' }, client)
    await post('token', { ...refresh, scope: 'api1' }, client)
    await post('token', { ...refresh, refresh_token: issued.access_token }, client)
    // Every place that takes a token.
    for (const token of [
      issued.access_token,
      issued.refresh_token,
      tokens.id_token,
      'made-up-token',
      'made.up.token',
    ]) {
      await post('introspection', { token, token_type_hint: 'refresh_token' }, api1)
      await post('introspection', { token }, ['api1', 'wrong-scope-secret'])
      await post('inbox', { token }, ['api1', 'wrong-scope-secret'])
      await post('introspection', { token, client_id: 'api1', client_secret: api1[1] })
      await post('accessTokenValidation', { token })
      await post('accessTokenValidation', { token, expectedScope: 'api2' })
      await f.get('accessTokenValidation', { token })
      await post('identityTokenValidation', { token, client_id: client[0] })
      await post('identityTokenValidation', { token, client_id: 'other' })
      await post('userinfo', { access_token: token })
      await bearer(`Bearer ${token}`)
      await bearer(`Bearer  ${token}`)
      await bearer(`Token ${token}`, { access_token: token })
    }
    // Theft.
    await post('token', { ...redeem, code_verifier: proof.verifier }, client)
    await post('token', refresh, client)
    f.clock.advance(11)
    const stolen = { grant_type: 'refresh_token', refresh_token: issued.refresh_token }
    await post('token', stolen, client)
    f.clock.advance(11)
    await post('token', stolen, client)
    await post('introspection', { token: issued.access_token }, api1)
    // Revocation by the client.
    const unwanted = (await post('token', { ...user, password: 'alice-password' }, client)).body
    for (const token of [unwanted.access_token, unwanted.refresh_token, 'made-up-token']) {
      await post('revocation', { token }, ['other', 'other-secret'])
      await post('revocation', { token }, client)
      await post('revocation', { token }, [client[0], 'wrong-client-secret-5'])
    }
    // A grant of the host.
    for (const assertion of ['the-one-and-only-badge', 'the-one-and-only-badge', 'refused-badge', 'failing-badge']) {
      const mine = assertion.startsWith('the') ? `${assertion}-${client[0]}` : assertion
      await post('token', { grant_type: badge.grantType, assertion: mine, scope: 'api1' }, client)
    }
  }
  // A process that comes after the grace.
  const shared = (await post('token', { ...user, password: 'alice-password' }, ['other', 'other-secret'])).body
  for (const _ of [1, 2]) {
    await post('token', { grant_type: 'refresh_token', refresh_token: shared.refresh_token }, ['other', 'other-secret'])
    f.clock.advance(5)
  }
  // A page that sends a token in place of its origin and its header names.
  const preflight = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'token "made-up-token"',
  }
  for (const origin of ['https://evil.example.com', 'made-up-token', 'https://web.example.com']) {
    const headers = { ...preflight, origin }
    await f.provider.handlers.token(new Request('https://id.example.com/x', { method: 'OPTIONS', headers }))
  }
  // Keys that are added and removed: none of them is encrypted in this store.
  noteKeys()
  const [current] = await f.provider.keys.rotate({ force: true })
  noteKeys()
  await f.provider.keys.retire(current?.kid ?? '', { compromised: true })
  noteKeys()
  // Too many guesses, a deleted user, a truncated record, an unreachable store.
  for (const guess of ['guess-number-1', 'guess-number-2', 'guess-number-3', 'alice-password']) {
    await post('token', { ...user, password: guess }, web)
  }
  f.clock.advance(300)
  const last = (await post('token', { ...user, password: 'alice-password' }, web)).body
  Object.assign(users.alice ?? {}, { active: false })
  await bearer(`Bearer ${last.access_token}`)
  await post('token', { grant_type: 'refresh_token', refresh_token: last.refresh_token }, web)
  for (const [key, value] of items) if (key.startsWith('access:')) items.set(key, value.slice(0, -9))
  await post('introspection', { token: last.access_token }, api1)
  await f.provider.revoke({ subject: '2' })
  await f.provider.revoke({ clientId: 'web' })
  await f.provider.revoke({ subject: '2', clientId: 'web' })
  outage.now = true
  await post('introspection', { token: last.access_token }, api1)
  await post('token', { grant_type: 'refresh_token', refresh_token: last.refresh_token }, web)
  return { f, secrets, refusals }
}
