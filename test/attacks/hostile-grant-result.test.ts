/**
 * Attack: a grant plugin returns more than was requested: scopes that were not requested, not allowed to the client or
 * not in the stored grant, members of the response and claims that belong to the protocol, tokens that never expire, or
 * data of a wrong shape.
 *
 * RFC 6749 sections 3.3 and 6: no more scope than requested or granted before. That the core enforces this for its own
 * plugins is hardening.
 */

import { defineGrant, type Grant, type GrantResult } from '@grantry/core'
import { basic, createTestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, clients, fixture, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:greedy'
const subject = { sub: '1', amr: ['badge'] }

const returning = (result: unknown, scope: Grant['scope'] = 'required'): Grant =>
  testGrant({
    grantType,
    scope: scope ?? 'required',
    handle: () => result as GrantResult,
  }) as Grant

async function send(plugin: Grant, scope = 'api1') {
  const t = await createTestProvider({ plugins: [plugin] })
  const response = await t.post('token', { grant_type: grantType, ...(scope !== '' && { scope }) }, testClient)
  const issued = t.events.some(({ type }) => type === 'token_issued')
  return { ...response, issued }
}

test('grants what was requested: the tests below fail for what they add', async () => {
  const { status, body } = await send(
    returning({ subject, scopes: ['api1'], claims: { level: 3 }, response: { hint: 'x' } }),
  )
  expect(status).toBe(200)
  expect(body).toMatchObject({ scope: 'api1', hint: 'x' })
})

describe('scopes', () => {
  test.each<[string, readonly string[], Grant['scope'], string]>([
    ['one that was not requested', ['api1', 'profile'], 'required', 'api1'],
    ['offline_access that was not requested', ['api1', 'offline_access'], 'required', 'api1'],
    ['one when none was requested', ['api1'], 'optional', ''],
    ['one not allowed to the client', ['email'], 'ignored', ''],
    ['one that does not exist', ['no-such-scope'], 'ignored', ''],
    ['two in one name', ['api1 profile'], 'required', 'api1'],
    ['one that is a property name of the prototype', ['__proto__'], 'ignored', ''],
  ])('rejects %s', async (_, scopes, rule, requested) => {
    const { status, body, issued } = await send(returning({ subject, scopes }, rule), requested)
    expect({ status, error: body.error, issued }).toEqual({ status: 400, error: 'invalid_scope', issued: false })
  })

  test.each(['openid', 'profile', 'offline_access'])('rejects %s without a subject', async (scope) => {
    const { status, body, issued } = await send(returning({ scopes: [scope] }), scope)
    expect({ status, error: body.error, issued }).toEqual({ status: 400, error: 'invalid_scope', issued: false })
  })

  test('rejects a subject of a grant that declares to have no users', async () => {
    const { status, body, issued } = await send({ ...returning({ subject, scopes: ['api1'] }), withoutUser: true })
    expect({ status, error: body.error, issued }).toEqual({ status: 500, error: 'server_error', issued: false })
  })

  /**
   * A refresh plugin of the host that ignores the requested scope, and returns everything that the family was granted.
   */
  test('a refresh that requested less does not get everything', async () => {
    const forgetful = defineGrant({
      grantType: 'refresh_token',
      params: v.object({ refresh_token: v.string() }),
      scope: 'optional',
      stored: { kind: 'refresh' },
      publicClients: true,
      async handle({ params }, kit) {
        const stored = await kit.findGrant('refresh', params.refresh_token)
        if (stored === undefined) throw new Error('the attack needs an existing token')
        return { subject: stored.subject, scopes: stored.scopes, redeems: [stored] }
      },
    })
    const others = builtInPlugins.filter((plugin) => !('grantType' in plugin) || plugin.grantType !== 'refresh_token')
    const f = await fixture({ plugins: [...others, forgetful], clients })
    const password = { grant_type: 'password', username: 'alice', password: 'alice-password' }
    const { body: first } = await f.post('token', { ...password, scope: 'api1 api2 offline_access' }, web)
    const narrowed = await f.post(
      'token',
      { grant_type: 'refresh_token', refresh_token: first.refresh_token, scope: 'api2' },
      web,
    )
    expect([narrowed.status, narrowed.body.error]).toEqual([400, 'invalid_scope'])
  })

  test('rejects a refresh beyond the stored grant without spending the refresh token', async () => {
    const widening = defineGrant({
      grantType: 'urn:example:widen',
      params: v.object({ refresh_token: v.string() }),
      async handle({ params, scopes }, kit) {
        const stored = await kit.findGrant('refresh', params.refresh_token)
        if (stored === undefined) throw new Error('the attack needs an existing token')
        return { subject: stored.subject, scopes, redeems: [stored] }
      },
    })
    const f = await fixture({
      plugins: [...builtInPlugins, widening],
      clients: clients.map((client) =>
        client.public ? client : { ...client, grantTypes: [...(client.grantTypes ?? []), 'urn:example:widen'] },
      ),
    })
    const password = { grant_type: 'password', username: 'alice', password: 'alice-password' }
    const { body: first } = await f.post('token', { ...password, scope: 'api1 offline_access' }, web)
    const { refresh_token } = first
    const widened = await f.post('token', { grant_type: 'urn:example:widen', refresh_token, scope: 'api1 api2' }, web)
    expect(widened).toMatchObject({ status: 400, body: { error: 'invalid_scope' } })
    expect((await f.post('token', { grant_type: 'refresh_token', refresh_token }, web)).status).toBe(200)
  })
})

describe('other members of the result', () => {
  const fromJson = (text: string): unknown => JSON.parse(text)
  test.each<[string, unknown]>([
    ['an access_token of its own', { response: { access_token: 'x' } }],
    ['an id_token of its own', { response: { id_token: 'x' } }],
    ['a refresh_token of its own', { response: { refresh_token: 'x' } }],
    ['another scope in the response', { response: { scope: 'admin' } }],
    ['another expires_in', { response: { expires_in: 1e9 } }],
    ['an error beside the tokens', { response: { error: 'x' } }],
    ['the member __proto__ of the response', { response: fromJson('{"__proto__":{"scope":"admin"}}') }],
    ['the claim sub', { claims: { sub: '2' } }],
    ['the claim scope', { claims: { scope: 'admin' } }],
    ['the claim aud', { claims: { aud: 'https://other.example' } }],
    ['the claim exp', { claims: { exp: 9_999_999_999 } }],
    ['the claim client_id', { claims: { client_id: 'other' } }],
    ['the claim grant_id, which names the family', { claims: { grant_id: 'x' } }],
    ['the claim __proto__', { claims: fromJson('{"__proto__":{"sub":"2"}}') }],
    ['a lifetime of zero', { issue: { lifetime: 0 } }],
    ['a lifetime that is not a number', { issue: { lifetime: Number.NaN } }],
    ['a forced refresh token', { issue: { refreshToken: true } }],
    ['a subject without a name', { subject: { sub: '', amr: ['badge'] } }],
    ['a subject without a method', { subject: { sub: '1', amr: [] } }],
    ['a subject with a name that is an object', { subject: { sub: { toString: () => '1' }, amr: ['badge'] } }],
    ['a member that the core does not know', { admin: true }],
    ['scopes in one string', { scopes: 'api1' }],
  ])('%s is a mistake of the plugin: nothing is issued, and no detail is shown', async (_, more) => {
    const { status, body, issued } = await send(returning({ subject, scopes: ['api1'], ...(more as object) }))
    expect({ status, body, issued }).toEqual({ status: 500, body: { error: 'server_error' }, issued: false })
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'access'],
    ['an array', []],
    ['a Response', new Response('{"access_token":"x"}')],
    ['a function', () => ({ scopes: ['api1'] })],
  ])('%s as the result is a mistake of the plugin', async (_, result) => {
    const { status, body } = await send(returning(result))
    expect({ status, body }).toEqual({ status: 500, body: { error: 'server_error' } })
  })

  test('a longer lifetime than that of the client is shortened to it', async () => {
    const { body } = await send(returning({ subject, scopes: ['api1'], issue: { lifetime: 1_000_000 } }))
    expect(body.expires_in).toBe(3600)
  })

  test('what a grant throws is not shown', async () => {
    const plugin = testGrant({
      grantType,
      handle: () => {
        throw new Error('password of the database: hunter2')
      },
    }) as Grant
    const t = await createTestProvider({ plugins: [plugin] })
    const response = await t.provider.handlers.token(
      new Request('https://id.example.com/connect/token', {
        method: 'POST',
        headers: { authorization: basic(testClient) },
        body: new URLSearchParams({ grant_type: grantType, scope: 'api1' }),
      }),
    )
    expect(response.status).toBe(500)
    expect(await response.text()).toBe('{"error":"server_error"}')
    expect([...response.headers.values()].join()).not.toContain('hunter2')
  })
})
