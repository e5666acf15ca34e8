import type { ClientOptions, Plugins, ProviderOptions } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { type IdJagOptions, idJag } from '@grantry/plugins/id-jag'
import { refreshToken } from '@grantry/plugins/refresh-token'
import {
  basic,
  type Credentials,
  createTestClock,
  createTestProvider,
  mapDriver,
  type NewGrant,
  read,
  sha256Of,
  storeGrant,
  type TestClock,
} from '@grantry/testing'
import { expect } from 'vitest'
import { createIssuerKey } from '../support/trusted-issuer.ts'

// The parties of MCP Enterprise-Managed Authorization, sections 4 and 5.
export const idp = 'https://acme.idp.example'
export const chat = 'https://auth.chat.example'
export const mcp = 'https://mcp.chat.example/mcp'
export const wikiMcp = 'https://mcp.wiki.example/mcp'

export const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const bearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
export const typeOf = (name: string): string => `urn:ietf:params:oauth:token-type:${name}`
export const typ = 'oauth-id-jag+jwt'

/** The MCP client at the identity provider and, under another id, at the authorization server of the chat. */
export const atIdp: Credentials = ['agent', 'agent-secret']
export const atChat: Credentials = ['f53f191f9311af35', 'chat-secret']
export const otherClient: Credentials = ['other', 'other-secret']

const redirectUri = 'https://agent.example.com/callback'
export const key = await createIssuerKey('16')

export const client = (
  [clientId, secret]: Credentials,
  grantTypes: string[],
  scopes: string[],
  more: Partial<ClientOptions> = {},
): ClientOptions => ({
  clientId,
  secrets: [{ sha256: sha256Of(secret) }],
  grantTypes,
  scopes,
  ...(grantTypes.includes('authorization_code') && { redirectUris: [redirectUri] }),
  ...more,
})

type Accept = NonNullable<IdJagOptions['accept']>
type Issue = NonNullable<IdJagOptions['issue']>
type Provider = Awaited<ReturnType<typeof createTestProvider>>

type More = Partial<ProviderOptions> & { readonly clock?: TestClock | undefined }

/** Sends a form as it is on the wire, and adds the reason of a refusal. */
const sender =
  (f: Provider, issuer: string) =>
  async (form: Readonly<Record<string, string>>, as: Credentials, headers: Readonly<Record<string, string>> = {}) => {
    const request = new Request(`${issuer}/connect/token`, {
      method: 'POST',
      headers: {
        ...headers,
        authorization: basic(as),
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(form).toString(),
    })
    const response = await read(await f.provider.handlers.token(request))
    const last = f.events.at(-1)
    return { ...response, failure: last?.type === 'endpoint_failed' ? last.reason : undefined }
  }

/** The authorization server of the chat, which accepts assertions of `idp`. */
export async function chatServer(
  from: Partial<Accept['issuers'][number]> = {},
  settings: Partial<Accept> = {},
  { plugins, clock = createTestClock(), ...more }: More = {},
) {
  const f = await createTestProvider({
    issuer: chat,
    runtime: { now: clock.now },
    storage: mapDriver(new Map(), clock.now),
    plugins: [
      refreshToken(),
      idJag({ accept: { issuers: [{ issuer: idp, jwks: { keys: [key.jwk] }, ...from }], ...settings } }),
      plugins as Plugins | undefined,
    ],
    scopes: [
      { name: 'chat.read', audience: mcp },
      { name: 'chat.history', audience: mcp },
      { name: 'chat.admin', audience: mcp },
      { name: 'wiki.read', audience: wikiMcp },
    ],
    clients: [
      client(atChat, [bearer, 'refresh_token'], ['chat.read', 'chat.history', 'wiki.read', 'offline_access'], {
        accessTokenFormat: 'jwt',
      }),
      client(otherClient, [bearer], ['chat.read', 'chat.history']),
    ],
    ...more,
  })
  const send = sender(f, chat)
  let count = 0
  /** The claims of the example in section 3.1, valid for five minutes. */
  const claims = (changed: Readonly<Record<string, unknown>> = {}) => ({
    jti: `jti-${++count}`,
    iss: idp,
    sub: 'U019488227',
    aud: chat,
    client_id: atChat[0],
    iat: clock.now(),
    exp: clock.now() + 300,
    resource: mcp,
    scope: 'chat.read chat.history',
    ...changed,
  })
  const redeem = (
    assertion: string,
    more: Readonly<Record<string, string>> = {},
    as = atChat,
    headers?: Readonly<Record<string, string>>,
  ) => send({ grant_type: bearer, assertion, ...more }, as, headers)
  return {
    ...f,
    clock,
    send,
    claims,
    redeem,
    signed: (changed?: Readonly<Record<string, unknown>>, header: Readonly<Record<string, unknown>> = {}) =>
      key.sign(claims(changed), { typ, ...header }),
    /** `accepted`, or the reason without its prefix. Every `invalid_grant` has the same public text. */
    async outcomeOf(assertion: string, more: Readonly<Record<string, string>> = {}, as = atChat) {
      const { status, body, failure } = await redeem(assertion, more, as)
      if (status === 200) return 'accepted'
      expect(status).toBe(400)
      if (body.error === 'invalid_grant') expect(body.error_description).toBe('The assertion is not valid')
      const reason = String(failure).replace('plugin:id-jag:', '')
      return body.error === 'invalid_grant' ? reason : `${body.error}: ${reason}`
    },
  }
}

/** An identity provider, where users sign in to the client `atIdp`. */
export async function identityProvider(
  settings: Partial<Issue> = {},
  { plugins, clock = createTestClock(), ...more }: More = {},
  server: Partial<Issue['servers'][number]> = {},
) {
  const f = await createTestProvider({
    issuer: idp,
    runtime: { now: clock.now },
    storage: mapDriver(new Map(), clock.now),
    plugins: [
      authorizationCode(),
      refreshToken(),
      idJag({
        issue: {
          servers: [
            {
              issuer: chat,
              resources: [mcp],
              clients: [{ clientId: atIdp[0], as: atChat[0], scopes: ['chat.read', 'chat.history'] }],
              ...server,
            },
          ],
          ...settings,
        },
      }),
      plugins as Plugins | undefined,
    ],
    clients: [
      client(atIdp, ['authorization_code', 'refresh_token', exchange], ['openid', 'offline_access']),
      client(otherClient, ['authorization_code', 'refresh_token', exchange], ['openid', 'offline_access']),
    ],
    ...more,
  })
  const send = sender(f, idp)

  /** Signs a user in, and returns the tokens. */
  async function signIn(grant: Partial<NewGrant> = {}, as: Credentials = atIdp) {
    const code = await storeGrant(f.provider, {
      kind: 'code',
      clientId: as[0],
      redirectUri,
      subject: { sub: 'U019488227', amr: ['pwd', 'otp'], acr: 'mfa', authTime: clock.now() - 5 },
      scopes: ['openid', 'offline_access'],
      ...grant,
    })
    return (await f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, as)).body
  }

  const form = (subjectToken: string) => ({
    grant_type: exchange,
    requested_token_type: typeOf('id-jag'),
    audience: chat,
    resource: mcp,
    subject_token: subjectToken,
    subject_token_type: typeOf('id_token'),
  })
  return {
    ...f,
    clock,
    send,
    signIn,
    form,
    request: (
      subjectToken: string,
      more: Readonly<Record<string, string>> = {},
      as = atIdp,
      headers?: Readonly<Record<string, string>>,
    ) => send({ ...form(subjectToken), ...more }, as, headers),
  }
}
