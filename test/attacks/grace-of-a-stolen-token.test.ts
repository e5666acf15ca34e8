/**
 * Attack: a client shares one refresh token among its processes, so it has `refreshToken.gracePeriod`, and an attacker
 * has read an old token. Inside the grace, the attacker is one more process: that is what the setting costs. The attacker
 * must not gain more: no second chain, no time beyond the grace or the lifetimes, no way around a key, a revocation, or a
 * single-use credential.
 *
 * RFC 9700 section 4.14.2; decision 154.
 */
import { type ClientOptions, defineGrant } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { requestTokens } from '../bindings/send.ts'
import { dpop, keyHolder } from '../dpop/dpop.ts'
import {
  builtInPlugins,
  clients,
  type Fixture,
  fixture,
  proof,
  redirectUri,
  spaClientId,
  web,
} from '../support/fixture.ts'
import { dead, issueTokens, judged, refresh } from '../support/revocation.ts'

const gracePeriod = 1800
const refused = { status: 400, body: { error: 'invalid_grant' } }
const withGrace = (more: ClientOptions['refreshToken'] = {}, grantTypes: readonly string[] = []) =>
  clients.map((client) => ({
    ...client,
    accessTokenLifetime: 300,
    refreshToken: { gracePeriod, ...more },
    ...(!client.public && { grantTypes: [...(client.grantTypes ?? []), ...grantTypes] }),
  }))
const types = ({ events }: Fixture) => events.map(({ type }) => type)

/** A store that counts its refresh tokens. */
async function counted() {
  const items = new Map<string, string>()
  const f = await fixture({ clients: withGrace(), storage: mapDriver(items) })
  return { f, count: () => [...items.keys()].filter((key) => key.startsWith('refresh:')).length }
}

test('3.106 a stolen token leads along the one chain of the client, and never to a second one', async () => {
  const { f, count } = await counted()
  const { refresh_token: first } = await issueTokens(f)
  const chain = [first]
  for (let step = 0; step < 4; step += 1) {
    f.clock.advance(60)
    chain.push((await refresh(f, chain.at(-1) ?? '')).body.refresh_token)
  }
  const walked = [first]
  while (walked.length < chain.length) {
    walked.push((await refresh(f, walked.at(-1) ?? '')).body.refresh_token)
    // Narrower requests lead to the same token.
    const form = { grant_type: 'refresh_token', refresh_token: walked.at(-2) ?? '', scope: 'api1' }
    expect((await f.post('token', form, web)).body.refresh_token).toBe(walked.at(-1))
  }
  expect(walked).toEqual(chain)
  expect(count()).toBe(chain.length)
})

test('3.107 retries do not prolong the grace of a stolen token', async () => {
  const f = await fixture({ clients: withGrace() })
  const { refresh_token: first } = await issueTokens(f)
  const second = (await refresh(f, first)).body
  for (let minute = 1; minute < 30; minute += 1) {
    f.clock.advance(60)
    expect((await refresh(f, first)).body.refresh_token).toBe(second.refresh_token)
  }
  f.clock.advance(60)
  for (const more of [{}, { scope: 'api1' }]) {
    const form = { grant_type: 'refresh_token', refresh_token: first, ...more }
    expect(await f.post('token', form, web)).toMatchObject(refused)
  }
  expect(types(f).filter((type) => type === 'refresh_outdated')).toHaveLength(2)
  // Presenting an old token ends no session.
  expect((await refresh(f, second.refresh_token)).status).toBe(200)
})

describe('3.106 the grace prolongs no lifetime', () => {
  test('a family that has reached its absolute lifetime is over, also for a holder inside the grace', async () => {
    const f = await fixture({ clients: withGrace({ absoluteLifetime: 3600 }) })
    const { refresh_token: first } = await issueTokens(f)
    f.clock.advance(3000)
    await refresh(f, first)
    f.clock.advance(599)
    expect((await refresh(f, first)).status).toBe(200)
    f.clock.advance(1)
    expect(await refresh(f, first)).toMatchObject(refused)
  })

  test('a family that nothing has used for its sliding lifetime is over, too', async () => {
    const f = await fixture({ clients: withGrace({ slidingLifetime: 600 }) })
    const { refresh_token: first } = await issueTokens(f)
    await refresh(f, first)
    f.clock.advance(600)
    expect(await refresh(f, first)).toMatchObject(refused)
  })
})

describe('3.106 a revocation inside the grace counts', () => {
  test.each<[string, (f: Fixture, newest: string) => Promise<unknown>]>([
    ['by the client', (f, token) => f.post('revocation', { token }, web)],
    ['of the user', (f) => f.provider.revoke({ subject: '1' })],
    ['of the client', (f) => f.provider.revoke({ clientId: web[0] })],
    ['of the account', async (f) => Object.assign(f.users.alice ?? {}, { active: false })],
  ])('%s', async (_, revoke) => {
    const f = await fixture({ clients: withGrace() })
    const { refresh_token: first } = await issueTokens(f)
    const second = (await refresh(f, first)).body
    const again = (await refresh(f, first)).body
    await revoke(f, second.refresh_token)
    for (const token of [first, second.refresh_token]) expect(await refresh(f, token)).toMatchObject(refused)
    expect(await judged(f, again.access_token)).toMatchObject({ introspection: false, userinfo: false })
  })

  test('also one that happens while the response is made', async () => {
    const f = await fixture({ clients: withGrace() })
    const { refresh_token: first } = await issueTokens(f)
    await refresh(f, first)
    f.clock.advance(301)
    const [response] = await Promise.all([refresh(f, first), f.provider.revoke({ subject: '1' })])
    if (response.status === 200) expect(await judged(f, response.body.access_token)).toEqual(dead)
    expect(await refresh(f, first)).toMatchObject(refused)
  })
})

describe('3.106 the grace is no way around a key', () => {
  const code = async (f: Fixture, key: Awaited<ReturnType<typeof keyHolder>> | undefined) => {
    const value = await f.code({ clientId: spaClientId, codeChallenge: proof.challenge })
    const form = { grant_type: 'authorization_code', code: value, redirect_uri: redirectUri }
    return requestTokens(f, { ...form, client_id: spaClientId, code_verifier: proof.verifier }, { key })
  }
  const form = (token: string) => ({ grant_type: 'refresh_token', refresh_token: token, client_id: spaClientId })

  test.each([true, false])('the first token is bound: %s', async (isBound) => {
    const f = await fixture({ plugins: [builtInPlugins, dpop()], clients: withGrace() })
    const [key, another] = [await keyHolder(), await keyHolder()]
    const { body: first } = await code(f, isBound ? key : undefined)
    // At the latest, this binds the family.
    const { body: second } = await requestTokens(f, form(first.refresh_token), { key })
    for (const wrong of [another, undefined]) {
      const stolen = await requestTokens(f, form(first.refresh_token), { key: wrong })
      expect(stolen).toMatchObject(refused)
      expect(stolen.body.access_token).toBeUndefined()
    }
    f.clock.advance(301)
    const renewed = await requestTokens(f, form(first.refresh_token), { key })
    expect([renewed.status, renewed.body.token_type, renewed.body.refresh_token]).toEqual([
      200,
      'DPoP',
      second.refresh_token,
    ])
    expect((await f.provider.inspect(renewed.body.access_token)).claims.cnf).toEqual({ jkt: key.thumbprint })
    expect((await requestTokens(f, form(second.refresh_token), { key: another })).status).toBe(400)
    expect((await requestTokens(f, form(second.refresh_token), { key })).status).toBe(200)
  })
})

test('3.107 a credential that is spent together with the token is not spent in vain', async () => {
  const proven = defineGrant({
    grantType: 'urn:example:proven',
    scope: 'optional',
    params: v.object({ refresh_token: v.string(), proof: v.string() }),
    async handle({ params }, kit) {
      const stored = await kit.findGrant('refresh', params.refresh_token)
      if (stored === undefined) throw kit.refuse('invalid_grant', 'The refresh token is not valid', 'token_unknown')
      const redeems = [stored, kit.redemption(params.proof, kit.now() + 600)]
      return { subject: stored.subject, scopes: stored.scopes, redeems }
    },
  })
  const f = await fixture({ plugins: [builtInPlugins, proven], clients: withGrace({}, [proven.grantType]) })
  const { refresh_token: token } = await issueTokens(f)
  const present = (credential: string) =>
    f.post('token', { grant_type: proven.grantType, refresh_token: token, proof: credential }, web)
  const first = await present('one')
  expect((await present('one')).body.refresh_token).toBe(first.body.refresh_token)
  for (const _ of [1, 2]) expect(await present('two')).toMatchObject(refused)
  expect((await refresh(f, first.body.refresh_token)).status).toBe(200)
})

test('3.107 of another client, nothing is returned, and nothing is revoked', async () => {
  const f = await fixture({ clients: withGrace() })
  const { refresh_token: first } = await issueTokens(f)
  const second = (await refresh(f, first)).body.refresh_token
  expect(await refresh(f, first, ['other', 'other-secret'])).toMatchObject(refused)
  expect((await refresh(f, second)).status).toBe(200)
})

test('3.106 the token that an exchange presents must not be spent, also inside the grace', async () => {
  const exchange = defineGrant({
    grantType: 'urn:example:exchange',
    scope: 'required',
    params: v.object({ refresh_token: v.string() }),
    async handle({ params, scopes }, kit) {
      const stored = await kit.findGrant('refresh', params.refresh_token)
      if (stored === undefined) throw kit.refuse('invalid_grant', 'The refresh token is not valid', 'token_unknown')
      return { subject: stored.subject, scopes, continuesFamilyOf: stored }
    },
  })
  const f = await fixture({ plugins: [builtInPlugins, exchange], clients: withGrace({}, [exchange.grantType]) })
  const { refresh_token: first } = await issueTokens(f)
  const present = (token: string) =>
    f.post('token', { grant_type: exchange.grantType, refresh_token: token, scope: 'api1' }, web)
  expect((await present(first)).status).toBe(200)
  const second = (await refresh(f, first)).body.refresh_token
  expect(await present(first)).toMatchObject(refused)
  expect((await present(second)).status).toBe(200)
})
