// What a host passes on from a browser, and the provider refuses.
import type { ClientOptions } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import { type NewCode, proof, redirectUri, spaClientId, web } from '../support/fixture.ts'

const secrets = [{ sha256: sha256Of(web[1]) }]
const codes = { secrets, grantTypes: ['authorization_code'], scopes: ['openid', 'api1'], redirectUris: [redirectUri] }
/** Clients that can do less than those of the fixture. */
export const others: readonly ClientOptions[] = [
  { ...codes, clientId: 'disabled', enabled: false },
  { ...codes, clientId: 'no-codes', grantTypes: ['password'] },
  { ...codes, clientId: 'plain', allowPlainPkce: true },
  { ...codes, clientId: 'retired', scopes: ['retired'] },
]

const malformed = 'plugin:proof-key:challenge_malformed'

/** Each is refused with the error of RFC 6749 section 4.1.2.1 and a reason. */
export const refusals: readonly [title: string, more: NewCode, code: string, reason: string][] = [
  ['an unknown client', { clientId: 'absent' }, 'unauthorized_client', 'client_unknown'],
  [
    'a client named like a member of every object',
    { clientId: 'constructor' },
    'unauthorized_client',
    'client_unknown',
  ],
  ['a disabled client', { clientId: 'disabled' }, 'unauthorized_client', 'client_unknown'],
  ['a client without the grant', { clientId: 'no-codes' }, 'unauthorized_client', 'grant_type_not_allowed'],
  ['a foreign redirect_uri', { redirectUri: 'https://evil.example.com/' }, 'invalid_request', 'redirect_uri_mismatch'],
  ['a trailing slash', { redirectUri: `${redirectUri}/` }, 'invalid_request', 'redirect_uri_mismatch'],
  ['a query', { redirectUri: `${redirectUri}?next=x` }, 'invalid_request', 'redirect_uri_mismatch'],
  ['a fragment', { redirectUri: `${redirectUri}#x` }, 'invalid_request', 'redirect_uri_mismatch'],
  [
    'the beginning of a redirect_uri',
    { redirectUri: 'https://web.example.com' },
    'invalid_request',
    'redirect_uri_mismatch',
  ],
  ['another case', { redirectUri: redirectUri.toUpperCase() }, 'invalid_request', 'redirect_uri_mismatch'],
  [
    'a user name before the host',
    { redirectUri: 'https://x@web.example.com/callback' },
    'invalid_request',
    'redirect_uri_mismatch',
  ],
  [
    'the redirect_uri of another client',
    { clientId: web[0], redirectUri: 'https://other.example.com/callback' },
    'invalid_request',
    'redirect_uri_mismatch',
  ],
  ['an unknown scope', { scopes: ['api1', 'api9'] }, 'invalid_scope', 'scope_unknown'],
  ['a scope not allowed to the client', { clientId: 'plain', scopes: ['api2'] }, 'invalid_scope', 'scope_not_allowed'],
  ['a disabled scope', { clientId: 'retired', scopes: ['retired'] }, 'invalid_scope', 'scope_unknown'],
  ['two scopes in one string', { scopes: ['api1 api2'] }, 'invalid_scope', 'scope_unknown'],
  ['no scope', { scopes: [] }, 'invalid_scope', 'scope_missing'],
  ['an empty subject', { subject: { sub: '', amr: ['pwd'] } }, 'invalid_request', 'malformed_approval'],
  [
    'a subject of 256 characters',
    { subject: { sub: 'x'.repeat(256), amr: ['pwd'] } },
    'invalid_request',
    'malformed_approval',
  ],
  ['a subject without a method', { subject: { sub: '1', amr: [] } }, 'invalid_request', 'malformed_approval'],
  [
    'a login before 1970',
    { subject: { sub: '1', amr: ['pwd'], authTime: -1 } },
    'invalid_request',
    'malformed_approval',
  ],
  [
    'a login time with a fraction',
    { subject: { sub: '1', amr: ['pwd'], authTime: 1.5 } },
    'invalid_request',
    'malformed_approval',
  ],
  ['a nonce of 301 characters', { nonce: 'x'.repeat(301) }, 'invalid_request', 'malformed_authorization_request'],
  ['claims in an array', { claims: ['x'] as never }, 'invalid_request', 'malformed_approval'],
  [
    'a misspelt member',
    { codeChalenge: proof.challenge } as NewCode,
    'invalid_request',
    'malformed_authorization_request',
  ],
  ['a challenge of 42 characters', { codeChallenge: 'x'.repeat(42) }, 'invalid_request', malformed],
  ['a challenge of 129 characters', { codeChallenge: 'x'.repeat(129) }, 'invalid_request', malformed],
  ['padding in a challenge', { codeChallenge: `${'x'.repeat(43)}=` }, 'invalid_request', malformed],
  ['an S256 challenge of 44', { codeChallenge: 'x'.repeat(44) }, 'invalid_request', malformed],
  ['an S256 challenge with a dot', { codeChallenge: `${'x'.repeat(42)}.` }, 'invalid_request', malformed],
  [
    'another challenge method',
    { codeChallenge: proof.challenge, codeChallengeMethod: 'S512' },
    'invalid_request',
    'plugin:proof-key:method_unknown',
  ],
  [
    'a method without a challenge',
    { codeChallengeMethod: 'S256' },
    'invalid_request',
    'plugin:proof-key:challenge_missing',
  ],
  [
    'plain without the opt-in',
    { codeChallenge: proof.challenge, codeChallengeMethod: 'plain' },
    'invalid_request',
    'plugin:proof-key:plain_not_allowed',
  ],
  [
    'a public client without a challenge',
    { clientId: spaClientId },
    'invalid_request',
    'plugin:proof-key:challenge_required',
  ],
]
