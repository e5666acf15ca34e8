// Attack: the host's login page passes on what the browser sent. The provider checks whatever the page forgets to
// check.
import { createHash } from 'node:crypto'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import {
  clients,
  type Fixture,
  fixture,
  type NewCode,
  otherClient,
  paramsOf,
  proof,
  redirectUri,
  scopes,
  spaClientId,
  web,
} from '../support/fixture.ts'
import { others, refusals } from './refused-requests.ts'

async function door() {
  const items = new Map<string, string>()
  const f = await fixture({
    storage: mapDriver(items),
    clients: [...clients, ...others],
    scopes: [...scopes, { name: 'retired', enabled: false }],
  })
  return { f, items }
}

describe('openAuthorization and authorize, for a code', () => {
  test.each(refusals)('rejects %s, and stores nothing', async (_, more, code, reason) => {
    const { f, items } = await door()
    await expect(f.code(more)).rejects.toMatchObject({ name: 'OAuthError', code, details: { reason } })
    expect([...items.keys()]).toEqual([])
    expect(f.events.map(({ type }) => type)).not.toContain('code_issued')
  })

  // Otherwise a page that sends other errors back by redirect would redirect to an address of the attacker's choice.
  test.each<[string, NewCode]>([
    ['a nonce of 301 characters', { nonce: 'x'.repeat(301) }],
    ['no scope', { scopes: [] }],
    ['invalid scopes', { scopes: 'openid' as never }],
    ['another challenge method', { codeChallengeMethod: 'S512' }],
    ['a misspelt member', { codeChalenge: 'x' } as NewCode],
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

  test.each<[string, NewCode]>([
    ['a nonce of 300 characters', { nonce: 'x'.repeat(300) }],
    ['a subject of 255 characters', { subject: { sub: 'x'.repeat(255), amr: ['pwd'] } }],
    [
      'a second registered redirect_uri',
      { clientId: otherClient[0], redirectUri: 'https://other.example.com/callback' },
    ],
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
    const [first, second] = [await f.code(), await f.code()]
    expect(first).toMatch(/^[\w-]{43,512}$/u)
    expect(first).not.toBe(second)
    const keys = [first, second].map((code) => `code:${createHash('sha256').update(code).digest('hex')}`)
    expect([...items.keys()].filter((key) => !key.startsWith('revision:'))).toEqual(keys)
    expect([...items.values()].join('\n')).not.toContain(first)
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

describe('openAuthorization', () => {
  const request = { kind: 'code', clientId: web[0], redirectUri, scopes: ['openid', 'api1'] }
  const ofUser = (more: NewCode): boolean => 'subject' in more || 'claims' in more
  const opened = (f: Fixture, { codeChallenge, codeChallengeMethod, ...more }: NewCode) => {
    const params = paramsOf({ codeChallenge, codeChallengeMethod })
    return f.provider.openAuthorization({ ...request, ...more, params })
  }

  test.each(refusals.filter(([, more]) => !ofUser(more)))(
    'rejects %s in the same way, before there is a user',
    async (_, more, code, reason) => {
      const { f } = await door()
      const refused = { name: 'OAuthError', code, details: { reason } }
      await expect(opened(f, more)).rejects.toMatchObject(refused)
    },
  )

  test('accepts a request that can become a code, and stores and records nothing', async () => {
    const { f, items } = await door()
    f.events.length = 0
    const more = { nonce: 'n-1', codeChallenge: proof.challenge, codeChallengeMethod: 'S256' } as const
    await expect(opened(f, more)).resolves.toMatchObject({ redirectUri })
    expect([...items.keys()]).toEqual([])
    expect(f.events).toEqual([])
  })

  test('rejects a user: a page that passes one confuses the two functions', async () => {
    const { f } = await door()
    const withUser = { ...request, subject: { sub: '1', amr: ['pwd'] } }
    const refused = { details: { reason: 'malformed_authorization_request' } }
    await expect(f.provider.openAuthorization(withUser as never)).rejects.toMatchObject(refused)
  })
})
