import { assertions, defineGrant, definePlugin, type Plugin } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:badge'

/** Tells who has handled the request. */
const grantOf = (name: string, starts?: string): Plugin =>
  definePlugin(name, [
    defineGrant({
      grantType,
      ...(starts !== undefined && {
        variant: { parameter: 'badge', matches: (value: string) => value.startsWith(starts) },
      }),
      params: v.object({ badge: v.string() }),
      handle: ({ scopes }, kit) => {
        kit.sha256('')
        return { subject: { sub: name, amr: ['pwd'] }, scopes, response: { handled_by: name } }
      },
    }),
  ])

const handlersOf = async (plugins: readonly Plugin[], badges = ['a1', 'b1', 'c1']) => {
  const { post } = await createTestProvider({ plugins })
  const ask = (badge: string) => post('token', { grant_type: grantType, badge, scope: 'api1' }, testClient)
  return Promise.all(badges.map(async (badge) => (await ask(badge)).body.handled_by))
}

describe('variants of a grant type', () => {
  const plain = grantOf('plain')
  const [ofA, ofB] = [grantOf('of-a', 'a'), grantOf('of-b', 'b')]

  test('3.109 get the requests that they match; the grant without a condition gets the others', async () => {
    for (const plugins of [
      [plain, ofA, ofB],
      [ofB, ofA, plain],
      [ofA, plain, ofB],
    ]) {
      expect(await handlersOf(plugins)).toEqual(['of-a', 'of-b', 'plain'])
    }
  })

  test('3.109 get all requests if there is no other one, so that a mistake has the error of the grant', async () => {
    expect(await handlersOf([ofA])).toEqual(['of-a', 'of-a', 'of-a'])
  })

  test('are listed once', async () => {
    const { provider } = await createTestProvider({ plugins: [plain, ofA, ofB] })
    expect(provider.metadata.grant_types_supported).toEqual([grantType])
    expect(provider.grantTypes).toEqual([grantType])
  })

  test('two grants without a condition are refused', async () => {
    await expect(createTestProvider({ plugins: [plain, grantOf('another'), ofA] })).rejects.toThrow(
      /plain and another both provide the grant type urn:example:badge/u,
    )
  })

  test('cannot have stored grants', () => {
    const stored = { kind: 'badge' }
    const variant = { parameter: 'badge', matches: () => true }
    const grant = testGrant({ grantType, variant, stored, handle: () => ({ scopes: [] }) })
    return expect(createTestProvider({ plugins: [definePlugin('x', [grant])] })).rejects.toThrow(
      /is a variant and cannot have stored or requires/u,
    )
  })
})

describe('a grant with scopes of another server', () => {
  const assertion = {
    typ: 'word+jwt',
    tokenType: 'urn:example:word',
    audience: 'https://b.example.com',
    scopes: ['b'],
    lifetime: 60,
  }
  const subject = { sub: 'alice', amr: ['pwd'] }
  const setUp = async (result: object, scope: 'foreign' | 'optional' = 'foreign') => {
    const grant = testGrant({ grantType, scope, handle: () => result as never })
    const f = await createTestProvider({ plugins: [definePlugin('word', [assertions, grant])] })
    return (asked = 'b c') => f.post('token', { grant_type: grantType, scope: asked }, testClient)
  }

  test('returns an assertion, and no token', async () => {
    const ask = await setUp({ subject, assertion })
    const { status, body } = await ask()
    expect([status, Object.keys(body).sort()]).toEqual([
      200,
      ['access_token', 'expires_in', 'issued_token_type', 'scope', 'token_type'],
    ])
  })

  test.each<[string, object, 'foreign' | 'optional']>([
    ['a token', { subject, scopes: [] }, 'foreign'],
    ['an assertion of own scopes', { subject, assertion }, 'optional'],
    ['an assertion without a subject', { assertion }, 'foreign'],
    ['a token besides', { subject, assertion, issue: { identityToken: true } }, 'foreign'],
    ['members of the response', { subject, assertion, response: { a: 1 } }, 'foreign'],
    ['the type of an access token', { subject, assertion: { ...assertion, typ: 'at+jwt' } }, 'foreign'],
    ['the type of an identity token', { subject, assertion: { ...assertion, typ: 'JWT' } }, 'foreign'],
    ['a lifetime of a day', { subject, assertion: { ...assertion, lifetime: 86_400 } }, 'foreign'],
    ['a claim of the core', { subject, assertion: { ...assertion, claims: { sub: 'bob' } } }, 'foreign'],
    ['no audience', { subject, assertion: { ...assertion, audience: '' } }, 'foreign'],
  ])('is a defect with %s', async (_, result, scope) => {
    const ask = await setUp(result, scope)
    expect((await ask(scope === 'foreign' ? 'b' : '')).status).toBe(500)
  })

  test('cannot add a scope that was not requested', async () => {
    const ask = await setUp({ subject, assertion })
    const { body, failure } = await ask('c')
    expect([body.error, failure]).toEqual(['invalid_scope', 'scope_escalation'])
  })
})
