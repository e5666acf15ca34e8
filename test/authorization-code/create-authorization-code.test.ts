// Attack: the host's login page passes on what the browser sent. The provider checks whatever the page forgets to
// check.
import { createHash } from 'node:crypto'
import type { ClientOptions, NewAuthorizationCode } from '@grantry/core'
import { mapDriver, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clients, fixture, other, proof, redirectUri, scopes, spaClientId, web } from '../support/fixture.ts'

type More = Partial<NewAuthorizationCode>

const secrets = [{ sha256: sha256Of(web[1]) }]
const codes = { secrets, grantTypes: ['authorization_code'], scopes: ['openid', 'api1'], redirectUris: [redirectUri] }
const others: readonly ClientOptions[] = [
  { ...codes, clientId: 'disabled', enabled: false },
  { ...codes, clientId: 'no-codes', grantTypes: ['password'] },
  { ...codes, clientId: 'plain', allowPlainCodeChallenge: true },
  { ...codes, clientId: 'retired', scopes: ['retired'] },
]

async function door() {
  const items = new Map<string, string>()
  const f = await fixture({
    storage: mapDriver(items),
    clients: [...clients, ...others],
    scopes: [...scopes, { name: 'retired', enabled: false }],
  })
  return { f, items }
}

const malformed = 'plugin:proof-key:challenge_malformed'

/** Each is refused with the error of RFC 6749 section 4.1.2.1 and a reason. */
const refusals: readonly [title: string, more: More, code: string, reason: string][] = [
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
  ['an empty subject', { subject: { sub: '', amr: ['pwd'] } }, 'invalid_request', 'malformed_code_request'],
  [
    'a subject of 256 characters',
    { subject: { sub: 'x'.repeat(256), amr: ['pwd'] } },
    'invalid_request',
    'malformed_code_request',
  ],
  ['a subject without a method', { subject: { sub: '1', amr: [] } }, 'invalid_request', 'malformed_code_request'],
  [
    'a login before 1970',
    { subject: { sub: '1', amr: ['pwd'], authTime: -1 } },
    'invalid_request',
    'malformed_code_request',
  ],
  [
    'a login time with a fraction',
    { subject: { sub: '1', amr: ['pwd'], authTime: 1.5 } },
    'invalid_request',
    'malformed_code_request',
  ],
  ['a nonce of 301 characters', { nonce: 'x'.repeat(301) }, 'invalid_request', 'malformed_code_request'],
  ['claims in an array', { claims: ['x'] as never }, 'invalid_request', 'malformed_code_request'],
  ['a misspelt member', { codeChalenge: proof.challenge } as More, 'invalid_request', 'malformed_code_request'],
  ['a challenge of 42 characters', { codeChallenge: 'x'.repeat(42) }, 'invalid_request', malformed],
  ['a challenge of 129 characters', { codeChallenge: 'x'.repeat(129) }, 'invalid_request', malformed],
  ['padding in a challenge', { codeChallenge: `${'x'.repeat(43)}=` }, 'invalid_request', malformed],
  ['an S256 challenge of 44', { codeChallenge: 'x'.repeat(44) }, 'invalid_request', malformed],
  ['an S256 challenge with a dot', { codeChallenge: `${'x'.repeat(42)}.` }, 'invalid_request', malformed],
  [
    'another challenge method',
    { codeChallenge: proof.challenge, codeChallengeMethod: 'S512' as never },
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

describe('createAuthorizationCode', () => {
  test.each(refusals)('rejects %s, and stores nothing', async (_, more, code, reason) => {
    const { f, items } = await door()
    await expect(f.code(more)).rejects.toMatchObject({ name: 'OAuthError', code, details: { reason } })
    expect([...items.keys()]).toEqual([])
    expect(f.events.map(({ type }) => type)).not.toContain('code_issued')
  })

  // Otherwise a page that sends other errors back by redirect would redirect to an address of the attacker's choice.
  test.each<[string, More]>([
    ['a nonce of 301 characters', { nonce: 'x'.repeat(301) }],
    ['no scope', { scopes: [] }],
    ['invalid scopes', { scopes: 'openid' as never }],
    ['another challenge method', { codeChallengeMethod: 'S512' as never }],
    ['a misspelt member', { codeChalenge: 'x' } as More],
    ['an invalid subject', { subject: undefined as never }],
  ])('validates the client and its redirect_uri before anything else: %s', async (_, more) => {
    const { f } = await door()
    const mismatch = { details: { reason: 'redirect_uri_mismatch' } }
    for (const redirect of ['https://evil.example.com/', '', undefined as never, 7 as never, {} as never]) {
      await expect(f.code({ ...more, redirectUri: redirect })).rejects.toMatchObject(mismatch)
    }
    const unknown = { details: { reason: 'client_unknown' } }
    for (const clientId of ['absent', '', undefined as never, 7 as never, {} as never]) {
      await expect(f.code({ ...more, clientId })).rejects.toMatchObject(unknown)
    }
  })

  test('rejects plain for a public client too', async () => {
    const { f } = await door()
    const plain = { clientId: spaClientId, codeChallenge: 'x'.repeat(43), codeChallengeMethod: 'plain' } as const
    await expect(f.code(plain)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test.each<[string, More]>([
    ['a nonce of 300 characters', { nonce: 'x'.repeat(300) }],
    ['a subject of 255 characters', { subject: { sub: 'x'.repeat(255), amr: ['pwd'] } }],
    ['a second registered redirect_uri', { clientId: other[0], redirectUri: 'https://other.example.com/callback' }],
    ['a challenge', { codeChallenge: proof.challenge }],
    ['a challenge and its method', { codeChallenge: proof.challenge, codeChallengeMethod: 'S256' }],
    [
      'a plain challenge with the opt-in',
      { clientId: 'plain', scopes: ['api1'], codeChallenge: 'x.~-_'.repeat(20), codeChallengeMethod: 'plain' },
    ],
    ['a public client with a challenge', { clientId: spaClientId, codeChallenge: proof.challenge }],
  ])('accepts %s', async (_, more) => {
    const { f } = await door()
    await expect(f.code(more)).resolves.toMatch(/^[\w-]{43,}$/u)
  })

  test('returns a code of 256 bits, and stores only its hash', async () => {
    const { f, items } = await door()
    const [one, two] = [await f.code(), await f.code()]
    expect(one).toMatch(/^[\w-]{43,512}$/u)
    expect(one).not.toBe(two)
    const keys = [one, two].map((code) => `code:${createHash('sha256').update(code).digest('hex')}`)
    expect([...items.keys()].filter((key) => !key.startsWith('revision:'))).toEqual(keys)
    expect([...items.values()].join('\n')).not.toContain(one)
  })

  test('drops a duplicate scope', async () => {
    const { f } = await door()
    const code = await f.code({ scopes: ['api1', 'openid', 'api1'] })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    expect((await f.post('token', form, web)).body.scope).toBe('api1 openid')
  })

  test('reports the code in the events, without its value', async () => {
    const { f } = await door()
    const code = await f.code()
    const fingerprint = createHash('sha256').update(code).digest('hex').slice(0, 8)
    expect(f.events).toContainEqual(
      expect.objectContaining({ type: 'code_issued', clientId: 'web', sub: '1', fingerprint, time: f.clock.now() }),
    )
    expect(JSON.stringify(f.events)).not.toContain(code)
  })

  test('rejects when the storage fails', async () => {
    const driver = mapDriver()
    let full = false
    const f = await fixture({
      storage: {
        ...driver,
        async setItem(key, value, options) {
          if (full) throw new Error('disk full')
          await driver.setItem?.(key, value, options)
        },
      },
    })
    full = true
    await expect(f.code()).rejects.toMatchObject({ code: 'temporarily_unavailable' })
  })
})

describe('checkAuthorizationRequest', () => {
  const request = { clientId: web[0], redirectUri, scopes: ['openid', 'api1'] }
  const ofUser = (more: More): boolean => 'subject' in more || 'claims' in more

  test.each(refusals.filter(([, more]) => !ofUser(more)))(
    'rejects %s as createAuthorizationCode does, before there is a user',
    async (_, more, code, reason) => {
      const { f } = await door()
      const refused = { name: 'OAuthError', code, details: { reason } }
      await expect(f.provider.checkAuthorizationRequest({ ...request, ...more })).rejects.toMatchObject(refused)
    },
  )

  test('accepts a request that can become a code, and stores and records nothing', async () => {
    const { f, items } = await door()
    f.events.length = 0
    const more = { nonce: 'n-1', codeChallenge: proof.challenge, codeChallengeMethod: 'S256' } as const
    await expect(f.provider.checkAuthorizationRequest({ ...request, ...more })).resolves.toBeUndefined()
    expect([...items.keys()]).toEqual([])
    expect(f.events).toEqual([])
  })

  test('rejects a user: a page that passes one confuses the two functions', async () => {
    const { f } = await door()
    const withUser = { ...request, subject: { sub: '1', amr: ['pwd'] } }
    const refused = { details: { reason: 'malformed_code_request' } }
    await expect(f.provider.checkAuthorizationRequest(withUser as never)).rejects.toMatchObject(refused)
  })
})
