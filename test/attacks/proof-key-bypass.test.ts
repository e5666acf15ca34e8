/**
 * Attack: an attacker holds a code and even the client's own credentials (a stolen app, a malicious tab), but not the
 * proof key. They try wrong verifiers, none, a downgrade to `plain`, and a provider without the proof-key plugin.
 *
 * RFC 7636 section 4.6: the server MUST compare and refuse; RFC 9700 section 2.1.1 and 4.8.2: no downgrade, and a
 * verifier without a challenge is refused. That a failed attempt does not affect the client, and that a missing plugin
 * refuses instead of downgrading, is hardening.
 */

import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import {
  builtInPlugins,
  clients,
  type Fixture,
  fixture,
  lastReason,
  proof,
  redirectUri,
  spaClientId,
  web,
} from '../support/fixture.ts'

const form = (code: string, more: Record<string, string> = {}) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: redirectUri,
  ...more,
})
const harm = (f: Fixture) =>
  f.events.filter(({ type }) => type === 'code_replayed' || type === 'family_revoked' || type === 'code_redeemed')

const attempts: readonly { attack: string; sent: Record<string, string>; error: string; reason: string }[] = [
  { attack: 'no verifier', sent: {}, error: 'invalid_grant', reason: 'plugin:proof-key:verifier_missing' },
  {
    attack: 'an empty verifier',
    sent: { code_verifier: '' },
    error: 'invalid_grant',
    reason: 'plugin:proof-key:verifier_missing',
  },
  {
    attack: 'another verifier',
    sent: { code_verifier: 'x'.repeat(43) },
    error: 'invalid_grant',
    reason: 'plugin:proof-key:verifier_mismatch',
  },
  {
    attack: 'the challenge itself, as for plain',
    sent: { code_verifier: proof.challenge },
    error: 'invalid_grant',
    reason: 'plugin:proof-key:verifier_mismatch',
  },
  {
    attack: 'the challenge, and the method plain in the token request',
    sent: { code_verifier: proof.challenge, code_challenge_method: 'plain', code_challenge: proof.challenge },
    error: 'invalid_grant',
    reason: 'plugin:proof-key:verifier_mismatch',
  },
  {
    attack: 'the right verifier in another case',
    sent: { code_verifier: proof.verifier.toLowerCase() },
    error: 'invalid_grant',
    reason: 'plugin:proof-key:verifier_mismatch',
  },
  {
    attack: 'the right verifier with an extra character',
    sent: { code_verifier: `${proof.verifier}A` },
    error: 'invalid_grant',
    reason: 'plugin:proof-key:verifier_mismatch',
  },
  {
    attack: 'the right verifier with a line break',
    sent: { code_verifier: `${proof.verifier}\n` },
    error: 'invalid_grant',
    reason: 'plugin:proof-key:verifier_malformed',
  },
  {
    attack: 'the right verifier, shortened',
    sent: { code_verifier: proof.verifier.slice(0, -1) },
    error: 'invalid_grant',
    reason: 'plugin:proof-key:verifier_malformed',
  },
]

describe.each([
  { kind: 'public', as: undefined, id: { client_id: spaClientId }, clientId: spaClientId },
  { kind: 'confidential', as: web, id: {}, clientId: web[0] },
])('a code with a challenge, of a $kind client', ({ as, id, clientId }) => {
  test.each(attempts)('$attack is rejected and spends nothing', async ({ sent, error, reason }) => {
    const f = await fixture()
    const code = await f.code({ clientId, codeChallenge: proof.challenge })

    const theft = await f.post('token', form(code, { ...id, ...sent }), as)

    expect(theft.status).toBe(400)
    expect(theft.body.error).toBe(error)
    expect(lastReason(f)).toBe(reason)
    expect(harm(f)).toEqual([])
    const legitimate = await f.post('token', form(code, { ...id, code_verifier: proof.verifier }), as)
    expect(legitimate.status).toBe(200)
  })

  test('a replay without the verifier revokes nothing', async () => {
    const f = await fixture()
    const code = await f.code({ clientId, codeChallenge: proof.challenge })
    await f.post('token', form(code, { ...id, code_verifier: proof.verifier }), as)
    for (const { sent } of attempts) await f.post('token', form(code, { ...id, ...sent }), as)
    expect(harm(f).map(({ type }) => type)).toEqual(['code_redeemed'])
  })
})

test('a verifier for a code without a challenge is rejected, and the client still succeeds', async () => {
  const f = await fixture()
  const code = await f.code()
  const injected = await f.post('token', form(code, { code_verifier: proof.verifier }), web)
  expect(injected.status).toBe(400)
  expect(injected.body.error).toBe('invalid_grant')
  expect(lastReason(f)).toBe('plugin:proof-key:verifier_without_challenge')
  expect((await f.post('token', form(code), web)).status).toBe(200)
})

test('a code without a challenge is not even created for a public client', async () => {
  const f = await fixture()
  await expect(f.code({ clientId: spaClientId })).rejects.toMatchObject({
    details: { reason: 'plugin:proof-key:challenge_required' },
  })
})

test('the method plain is not accepted from a client that did not opt in', async () => {
  const f = await fixture()
  const code = f.code({ codeChallenge: proof.verifier, codeChallengeMethod: 'plain' })
  await expect(code).rejects.toMatchObject({ details: { reason: 'plugin:proof-key:plain_not_allowed' } })
})

test('a public client gets no token for a code whose demand was removed in the store', async () => {
  const storage = memoryDriver()
  const f = await fixture({ storage })
  const code = await f.code({ clientId: spaClientId, codeChallenge: proof.challenge })
  for (const key of await storage.getKeys('', {})) {
    const envelope = JSON.parse(String(await storage.getItem(key)))
    delete envelope.value.demands
    await storage.setItem?.(key, JSON.stringify(envelope), { ttl: 60 })
  }
  for (const more of [{}, { code_verifier: proof.verifier }]) {
    expect((await f.post('token', form(code, { client_id: spaClientId, ...more }))).body.error).toBe('invalid_grant')
  }
})

test('without the proof-key plugin such a code is rejected, verifier or not, and not spent', async () => {
  const storage = memoryDriver()
  const plugins = builtInPlugins.filter((plugin) => plugin.kind !== 'plugin')
  expect(plugins).toHaveLength(builtInPlugins.length - 1)
  const complete = await fixture({ storage })
  const incomplete = await fixture({ storage, plugins, clients: clients.filter((client) => !client.public) })
  const code = await complete.code({ codeChallenge: proof.challenge })
  for (const more of [{}, { code_verifier: proof.verifier }, { code_verifier: proof.challenge }]) {
    const response = await incomplete.post('token', form(code, more), web)
    expect(response.status).toBe(400)
    expect(response.body.error).toBe('invalid_grant')
    expect(lastReason(incomplete)).toBe('demand_unsettled')
  }
  expect((await complete.post('token', form(code, { code_verifier: proof.verifier }), web)).status).toBe(200)
})
