// A grant that redeems a refresh token together with a proof that may be used once, such as a signed assertion. Both are
// spent, or neither.
import { defineGrant } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { api1, builtInPlugins, clients, type Fixture, fixture, web } from '../support/fixture.ts'
import { type CommitPath, commitPaths, withLatency } from '../support/latency.ts'
import { issueTokens } from '../support/revocation.ts'
import { differentTokens } from '../support/same-tokens.ts'

const grantType = 'urn:example:proven'

const proven = defineGrant({
  grantType,
  scope: 'optional',
  params: v.object({ refresh_token: v.string(), proof: v.string() }),
  async handle({ params }, kit) {
    const stored = await kit.findGrant('refresh', params.refresh_token)
    if (stored === undefined) throw new TypeError('an issued token has no record')
    const proof = kit.redemption(params.proof, kit.now() + 600)
    return { subject: stored.subject, scopes: stored.scopes, redeems: [stored, proof] }
  },
})

async function started({ prepare }: CommitPath) {
  const items = new Map<string, string>()
  const f = await fixture({
    storage: withLatency(prepare(mapDriver(items))),
    plugins: [builtInPlugins, proven],
    clients: clients
      .filter((client) => !client.public)
      .map((client) => ({ ...client, grantTypes: [...(client.grantTypes ?? []), grantType] })),
  })
  const present = (token: string, proof: string) =>
    f.post('token', { grant_type: grantType, refresh_token: token, proof }, web)
  const count = (kind: string) => [...items.keys()].filter((key) => key.startsWith(kind)).length
  return { f, present, count, token: (await issueTokens(f)).refresh_token }
}

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

describe.each(commitPaths)('a refresh token and a proof, committed $path', (path) => {
  test('a proof that was used spends no refresh token, and stores nothing', async () => {
    const { f, present, count, token } = await started(path)
    const otherToken = (await issueTokens(f)).refresh_token
    expect((await present(otherToken, 'one')).status).toBe(200)
    const before = [count('access'), count('refresh'), count('replay'), count('spent:refresh')]
    expect(await present(token, 'one')).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(f.events.at(-1)).toMatchObject({ reason: 'redemption_replayed' })
    expect([count('access'), count('refresh'), count('replay'), count('spent:refresh')]).toEqual(before)
    expect((await present(token, 'two')).status).toBe(200)
  })

  test('the same request again is a retry: the same tokens', async () => {
    const { present, token } = await started(path)
    const responses = [await present(token, 'one'), await present(token, 'one')]
    expect(responses.map(({ status }) => status)).toEqual([200, 200])
    expect(differentTokens(responses)).toHaveLength(1)
  })

  test('50 equal concurrent requests get the same tokens or none, and the losers store nothing', async () => {
    const { f, present, count, token } = await started(path)
    const responses = await Promise.all(Array.from({ length: 50 }, () => present(token, 'one')))
    const granted = responses.filter(({ status }) => status === 200)
    expect(differentTokens(granted)).toHaveLength(1)
    // In order, a loser can find the plugin's marker before the winner has written that of the refresh token.
    const refused = path.path === 'atomic' ? 0 : responses.length - granted.length
    expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(refused)
    expect([count('refresh'), count('access'), count('replay'), count('spent')]).toEqual([2, 2, 1, 2])
    expect(await isActive(f, granted[0]?.body.access_token)).toBe(true)
  })

  test('a spent refresh token with another proof is a replay: the family is revoked', async () => {
    const { f, present, token } = await started(path)
    const { body } = await present(token, 'one')
    expect(await present(token, 'two')).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(f.events.at(-1)).toMatchObject({ reason: 'refresh_reused' })
    expect(await isActive(f, body.access_token)).toBe(false)
  })

  test('of 50 concurrent requests with different proofs, one gets tokens, and the family is revoked', async () => {
    const { f, present, token } = await started(path)
    const responses = await Promise.all(Array.from({ length: 50 }, (_, index) => present(token, `${index}`)))
    const granted = responses.filter(({ status }) => status === 200)
    expect(granted).toHaveLength(1)
    expect(await isActive(f, granted[0]?.body.access_token)).toBe(false)
  })
})
