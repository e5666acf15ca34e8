/**
 * Attack: an attacker has read one old refresh token and "retries" up the chain: the first token returns the second,
 * the second returns the third. A retry is for a response that was lost. Once the successor has been spent, the
 * response had arrived, so the old token comes from another party.
 *
 * RFC 9700 section 4.14.2: reuse of a rotated refresh token ends its family; wire contract, section 3; decision 28.
 */
import { type Credentials, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, proof, redirectUri, spaClientId, web, webJwt } from '../support/fixture.ts'
import { withoutSignatures } from '../support/same-tokens.ts'

interface Party {
  readonly clientId: string
  readonly as: Credentials | undefined
}
const confidential: Party = { clientId: web[0], as: web }

const send = (f: Fixture, { clientId, as }: Party, form: Record<string, string>) =>
  f.post('token', as === undefined ? { ...form, client_id: clientId } : form, as)

const refresh = (f: Fixture, token: string, party = confidential, more: Record<string, string> = {}) =>
  send(f, party, { grant_type: 'refresh_token', refresh_token: token, ...more })

/**
 * The token responses of one family, the first from a code; each refresh comes inside the window of the previous one.
 */
async function chain(f: Fixture, length: number, party = confidential) {
  const code = await f.code({ clientId: party.clientId, codeChallenge: proof.challenge })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: proof.verifier }
  const links = [(await send(f, party, form)).body]
  while (links.length < length) {
    const { status, body } = await refresh(f, links.at(-1).refresh_token, party)
    expect(status).toBe(200)
    links.push(body)
  }
  return links
}

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

/** Every token of the family is revoked: the replay returned nothing and revoked the rest. */
async function expectDead(f: Fixture, links: Awaited<ReturnType<typeof chain>>, party = confidential): Promise<void> {
  expect(f.events).toContainEqual(expect.objectContaining({ type: 'family_revoked', reason: 'refresh_reused' }))
  for (const { access_token, id_token, refresh_token } of links) {
    expect(await isActive(f, access_token)).toBe(false)
    const validation = { token: id_token, client_id: party.clientId }
    expect((await f.post('identityTokenValidation', validation)).status).toBe(400)
    expect((await refresh(f, refresh_token, party)).body.error).toBe('invalid_grant')
  }
}

describe.each([
  { kind: 'confidential client with reference tokens', party: confidential },
  { kind: 'confidential client with JWTs', party: { clientId: webJwt[0], as: webJwt } },
  { kind: 'public client', party: { clientId: spaClientId, as: undefined } },
])('of a $kind', ({ party }) => {
  test.each([
    [0, 3],
    [0, 4],
    [1, 4],
    [3, 6],
  ])(
    '3.40 token %i of a chain of %i gets no token inside the window, and the family is revoked',
    async (stolen, length) => {
      const f = await fixture()
      const links = await chain(f, length, party)
      f.events.length = 0
      const { status, body } = await refresh(f, links[stolen].refresh_token, party)
      expect(status).toBe(400)
      expect(body).toEqual({ error: 'invalid_grant', error_description: 'The refresh token is not valid' })
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'refresh_reused' })
      expect(f.events.map(({ type }) => type)).not.toContain('refresh_retried')
      await expectDead(f, links, party)
    },
  )
})

test('3.40 the newest response can be requested again until its refresh token is used, and not afterwards', async () => {
  const f = await fixture()
  const links = await chain(f, 2)
  const [first, second] = links
  const repeated = async (token: string) => withoutSignatures((await refresh(f, token)).body)
  for (let retry = 0; retry < 3; retry += 1) {
    expect(await repeated(first.refresh_token)).toEqual(withoutSignatures(second))
  }
  const third = (await refresh(f, second.refresh_token)).body
  expect(await repeated(second.refresh_token)).toEqual(withoutSignatures(third))
  expect((await refresh(f, first.refresh_token)).status).toBe(400)
  await expectDead(f, [...links, third])
})

test('3.40 a successor that was used with another scope was used', async () => {
  const f = await fixture()
  const links = await chain(f, 2)
  const third = await refresh(f, links[1].refresh_token, confidential, { scope: 'openid api1' })
  expect(third.status).toBe(200)
  expect((await refresh(f, links[0].refresh_token)).status).toBe(400)
  await expectDead(f, [...links, third.body])
})

test('3.40 a rejected use of the successor spends nothing, so the retry still succeeds', async () => {
  const f = await fixture()
  const [first, second] = await chain(f, 2)
  expect((await refresh(f, second.refresh_token, confidential, { scope: 'nothing' })).body.error).toBe('invalid_scope')
  expect((await refresh(f, second.refresh_token, { clientId: webJwt[0], as: webJwt })).status).toBe(400)
  expect(withoutSignatures((await refresh(f, first.refresh_token)).body)).toEqual(withoutSignatures(second))
})

test('3.40 a response without a refresh token has no successor, and can be requested again until the window ends', async () => {
  const lifetime = { absoluteLifetime: 100, slidingLifetime: 100 }
  const client = { clientId: web[0], secrets: [{ sha256: sha256Of(web[1]) }], redirectUris: [redirectUri] }
  const grantTypes = ['authorization_code', 'refresh_token']
  const scopes = ['openid', 'profile', 'offline_access', 'api1']
  const find = { ...client, grantTypes, scopes, refreshToken: lifetime }
  let current: typeof find = find
  const f = await fixture({ clients: { find: () => current } })
  const [first] = await chain(f, 1)
  // The family has reached its end when its lifetime is shortened.
  current = { ...find, refreshToken: { absoluteLifetime: 5, slidingLifetime: 5 } }
  f.clock.advance(5)
  const last = await refresh(f, first.refresh_token)
  expect(last.status).toBe(200)
  expect(last.body).not.toHaveProperty('refresh_token')
  expect(withoutSignatures((await refresh(f, first.refresh_token)).body)).toEqual(withoutSignatures(last.body))
  f.clock.advance(10)
  expect((await refresh(f, first.refresh_token)).status).toBe(400)
})
