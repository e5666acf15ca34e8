/**
 * Attack: a grant plugin (careless, or compromised through its dependencies) tries to bypass the demands of a code: it
 * forges a redemption, copies a real one without the demand, modifies a real one in place, returns weaker demands, or
 * continues with a code without spending it.
 *
 * RFC 7636 and RFC 6749 section 4.1.2 require the proof key and single use from every caller; that the core enforces
 * them against its own plugins is hardening.
 */

import {
  defineGrant,
  type Grant,
  type GrantKit,
  type GrantResult,
  type Redemption,
  type StoredGrant,
} from '@grantry/core'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  builtInPlugins,
  clients,
  type Fixture,
  fixture,
  otherClient,
  proof,
  redirectUri,
  web,
} from '../support/fixture.ts'

const grantType = 'urn:example:evil'

/** A plugin that looks up a code and treats it as the attack specifies. */
const evil = (act: (stored: StoredGrant, kit: GrantKit) => Partial<GrantResult>): Grant =>
  defineGrant({
    grantType,
    params: v.object({ code: v.string() }),
    scope: 'ignored',
    async handle({ params: { code } }, kit) {
      const stored = await kit.findGrant('code', code)
      if (stored === undefined) throw new Error('the attack needs an existing code')
      return { subject: stored.subject, scopes: stored.scopes, ...act(stored, kit) }
    },
  }) as Grant

const withEvil = (act: Parameters<typeof evil>[0]) =>
  fixture({
    plugins: [...builtInPlugins, evil(act)],
    clients: clients.map((client) =>
      client.public ? client : { ...client, grantTypes: [...(client.grantTypes ?? []), grantType] },
    ),
  })

/** A modified copy of a redemption that includes every private member, whatever its name. */
function copyOf(redemption: Redemption, change: (facts: Record<string, unknown>) => unknown): Redemption {
  const copy = Object.create(Object.getPrototypeOf(redemption))
  for (const key of Reflect.ownKeys(redemption)) {
    Object.defineProperty(copy, key, { value: change(structuredClone(Reflect.get(redemption, key))), enumerable: true })
  }
  return copy
}

const withoutDemands = (facts: Record<string, unknown>) => ({
  ...facts,
  record: { ...(facts.record as object), demands: undefined },
})

async function expectRefused(f: Fixture, code: string, as = web): Promise<void> {
  const response = await f.post('token', { grant_type: grantType, code }, as)
  expect([400, 500]).toContain(response.status)
  expect(['invalid_grant', 'server_error']).toContain(response.body.error)
  expect(response.body).not.toHaveProperty('access_token')
  expect(f.events.map(({ type }) => type)).not.toContain('token_issued')
}

const redeem = (f: Fixture, code: string, more: Record<string, string> = {}) =>
  f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...more }, web)

describe('a code with a challenge', () => {
  test.each<[string, Parameters<typeof evil>[0]]>([
    ['an empty object as redemption', () => ({ redeems: [{} as Redemption] })],
    ['an array as redemption', () => ({ redeems: [[] as unknown as Redemption] })],
    ['a redemption of guessed members', () => ({ redeems: [{ kind: 'code', facts: {} } as unknown as Redemption] })],
    ['a copy without the demand', (stored) => ({ redeems: [copyOf(stored, withoutDemands)] })],
    [
      'a copy without the record',
      (stored) => ({ redeems: [copyOf(stored, (facts) => ({ ...facts, record: undefined }))] }),
    ],
    [
      'the redemption with the demand deleted in place',
      (stored) => {
        for (const key of Reflect.ownKeys(stored)) {
          const { record } = Object(Reflect.get(stored, key)) as { record?: { demands?: unknown } }
          if (record !== undefined) Reflect.deleteProperty(record, 'demands')
        }
        return { redeems: [stored] }
      },
    ],
    ['no demands beside the redemption', (stored) => ({ redeems: [stored], demands: {} })],
    [
      'an easier demand beside the redemption',
      (stored) => ({
        redeems: [stored],
        demands: { proof_key: { challenge: 'x'.repeat(43), method: 'plain' } },
      }),
    ],
  ])('%s yields no tokens, and the client can still redeem the code', async (_, act) => {
    const f = await withEvil(act)
    const code = await f.code({ codeChallenge: proof.challenge })
    await expectRefused(f, code)
    expect((await redeem(f, code, { code_verifier: proof.verifier })).status).toBe(200)
  })
})

describe('a code without a challenge', () => {
  test('the plugin that redeems it unmodified gets tokens, once: the attacks above fail because of their change', async () => {
    const f = await withEvil((stored) => ({ redeems: [stored] }))
    const code = await f.code()
    expect((await f.post('token', { grant_type: grantType, code }, web)).status).toBe(200)
    expect((await redeem(f, code)).body.error).toBe('invalid_grant')
  })

  test('cannot be redeemed for another client when the plugin does not compare', async () => {
    const f = await withEvil((stored) => ({ redeems: [stored] }))
    const code = await f.code()
    await expectRefused(f, code, otherClient)
    expect((await redeem(f, code)).status).toBe(200)
  })

  test('cannot be redeemed for another client by rewriting the redemption', async () => {
    const rewritten = (facts: Record<string, unknown>) => ({
      ...facts,
      record: { ...(facts.record as object), clientId: otherClient[0] },
    })
    const f = await withEvil((stored) => ({ redeems: [copyOf(stored, rewritten)] }))
    const code = await f.code()
    await expectRefused(f, code, otherClient)
    expect((await redeem(f, code)).status).toBe(200)
  })

  test('a copy under another hash does not leave the code unspent', async () => {
    const f = await withEvil((stored) => ({
      redeems: [copyOf(stored, (facts) => ({ ...facts, hash: '0'.repeat(64) }))],
    }))
    await expectRefused(f, await f.code())
  })

  // `continues` is for the refresh token of a client that keeps it; with a code in it, the code would never be spent.
  test('cannot be passed as `continues`, which would never spend it', async () => {
    const f = await withEvil((stored) => ({ continues: stored }))
    await expectRefused(f, await f.code())
  })

  test('cannot be redeemed and continued in one result', async () => {
    const f = await withEvil((stored) => ({ redeems: [stored], continues: stored }))
    const code = await f.code()
    await expectRefused(f, code)
    expect((await redeem(f, code)).status).toBe(200)
  })
})
