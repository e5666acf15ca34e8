// Attack: a code is intercepted on its way to the application (another app on the device has the same URI scheme) and
// redeemed by the attacker.
import { createHash } from 'node:crypto'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, lastReason, proof, redirectUri, spaClientId, web } from '../support/fixture.ts'

const grant = { grant_type: 'authorization_code', redirect_uri: redirectUri }
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

const confidential = {
  clientId: web[0],
  secrets: [{ sha256: sha256Of(web[1]) }],
  grantTypes: ['authorization_code'],
  scopes: ['openid', 'profile', 'offline_access', 'api1'],
  redirectUris: [redirectUri],
}
const plainClient = { ...confidential, allowPlainPkce: true }

describe('a code with a challenge', () => {
  test('3.27 is redeemed with its verifier (RFC 7636 appendix B)', async () => {
    const f = await fixture()
    const code = await f.code({ codeChallenge: proof.challenge })
    const { status } = await f.post('token', { ...grant, code, code_verifier: proof.verifier }, web)
    expect(status).toBe(200)
  })

  test('3.27 is redeemed with its verifier by a public client', async () => {
    const f = await fixture()
    const code = await f.code({ clientId: spaClientId, codeChallenge: proof.challenge })
    const form = { ...grant, code, client_id: spaClientId, code_verifier: proof.verifier }
    const { status, body } = await f.post('token', form)
    expect(status).toBe(200)
    expect(body.refresh_token).toEqual(expect.any(String))
  })

  test.each([
    ['no verifier', undefined, 'plugin:proof-key:verifier_missing'],
    ['an empty verifier', '', 'plugin:proof-key:verifier_missing'],
    ['another verifier', 'x'.repeat(43), 'plugin:proof-key:verifier_mismatch'],
    ['the verifier in another case', proof.verifier.toUpperCase(), 'plugin:proof-key:verifier_mismatch'],
    ['the verifier with one extra character', `${proof.verifier}x`, 'plugin:proof-key:verifier_mismatch'],
    ['the challenge itself', proof.challenge, 'plugin:proof-key:verifier_mismatch'],
  ])('3.27 is rejected with %s, and not spent', async (_, verifier, reason) => {
    const f = await fixture()
    const code = await f.code({ codeChallenge: proof.challenge })
    const wrong = { ...grant, code, ...(verifier !== undefined && { code_verifier: verifier }) }
    const { status, body } = await f.post('token', wrong, web)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: 'The authorization code is not valid' })
    expect(lastReason(f)).toBe(reason)
    expect((await f.post('token', { ...grant, code, code_verifier: proof.verifier }, web)).status).toBe(200)
  })

  test('3.27 is rejected without the proof-key plugin: never a downgrade', async () => {
    const storage = memoryDriver()
    const options = { storage, clients: [confidential] }
    const f = await fixture({ ...options, plugins: [authorizationCode()] })
    await expect(f.code({ codeChallenge: proof.challenge })).rejects.toMatchObject({
      code: 'invalid_request',
      details: { reason: 'challenge_unsupported' },
    })
    const code = await (await fixture(options)).code({ codeChallenge: proof.challenge })
    const { status, body } = await f.post('token', { ...grant, code, code_verifier: proof.verifier }, web)
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
    expect(lastReason(f)).toBe('demand_unsettled')
  })

  test('3.28 plain works for a client that opted in, and is compared exactly', async () => {
    const f = await fixture({ clients: [plainClient] })
    const verifier = 'v'.repeat(43)
    const code = await f.code({ codeChallenge: verifier, codeChallengeMethod: 'plain' })
    const wrong = { ...grant, code, code_verifier: `${verifier}v` }
    expect((await f.post('token', wrong, web)).body.error).toBe('invalid_grant')
    expect((await f.post('token', { ...grant, code, code_verifier: verifier }, web)).status).toBe(200)
  })

  test('3.28 plain is rejected without the opt-in', async () => {
    const f = await fixture()
    const plain = { codeChallenge: proof.challenge, codeChallengeMethod: 'plain' } as const
    await expect(f.code(plain)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('3.28 an S256 challenge is not its own verifier, plain allowed or not', async () => {
    const f = await fixture({ clients: [plainClient] })
    const code = await f.code({ codeChallenge: proof.challenge })
    const { body } = await f.post('token', { ...grant, code, code_verifier: proof.challenge }, web)
    expect(body.error).toBe('invalid_grant')
  })

  test.each([
    ['42 characters', 'x'.repeat(42)],
    ['129 characters', 'x'.repeat(129)],
    ['a space', `${'x'.repeat(42)} `],
    ['a plus sign', `${'x'.repeat(42)}+`],
    ['a slash', `${'x'.repeat(42)}/`],
    ['padding', `${'x'.repeat(42)}=`],
    ['a percent sign', `${'x'.repeat(42)}%`],
    ['a letter beyond ASCII', `${'x'.repeat(42)}é`],
    ['a trailing line break', `${'x'.repeat(43)}\n`],
  ])('3.30 a verifier with %s is rejected, and the code is not spent', async (_, verifier) => {
    const f = await fixture()
    // Even a verifier that matches the challenge is rejected if its form is wrong.
    const code = await f.code({ codeChallenge: challengeOf(verifier) })
    const { status, body } = await f.post('token', { ...grant, code, code_verifier: verifier }, web)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: 'The authorization code is not valid' })
    expect(lastReason(f)).toBe('plugin:proof-key:verifier_malformed')
    const another = await f.code({ codeChallenge: proof.challenge })
    expect((await f.post('token', { ...grant, code: another, code_verifier: verifier }, web)).status).toBe(400)
    expect((await f.post('token', { ...grant, code: another, code_verifier: proof.verifier }, web)).status).toBe(200)
  })

  test.each([
    ['43 characters', 'x'.repeat(43)],
    ['128 characters', 'x'.repeat(128)],
    ['every unreserved sign', `AZaz09-._~${'x'.repeat(40)}`],
  ])('3.30 accepts a verifier of %s', async (_, verifier) => {
    const f = await fixture()
    const code = await f.code({ codeChallenge: challengeOf(verifier) })
    expect((await f.post('token', { ...grant, code, code_verifier: verifier }, web)).status).toBe(200)
  })
})

describe('a code without a challenge', () => {
  test('3.29 is rejected with a verifier, and not spent', async () => {
    const f = await fixture()
    const code = await f.code()
    const { status, body } = await f.post('token', { ...grant, code, code_verifier: proof.verifier }, web)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: 'The authorization code is not valid' })
    expect(lastReason(f)).toBe('plugin:proof-key:verifier_without_challenge')
    expect((await f.post('token', { ...grant, code }, web)).status).toBe(200)
  })

  test('3.27 is decided per code: one client may have codes with and without a challenge', async () => {
    const f = await fixture()
    const [bare, bound] = [await f.code(), await f.code({ codeChallenge: proof.challenge })]
    expect((await f.post('token', { ...grant, code: bound }, web)).body.error).toBe('invalid_grant')
    expect((await f.post('token', { ...grant, code: bare }, web)).status).toBe(200)
  })

  test('3.27 is rejected for a client that has become public since', async () => {
    let client: object = plainClient
    const f = await fixture({ clients: { find: () => client as typeof plainClient } })
    const code = await f.code()
    client = { ...plainClient, secrets: [], public: true }
    const { status, body } = await f.post('token', { ...grant, code, client_id: web[0] })
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
    expect(lastReason(f)).toBe('proof_key_required')
  })
})

describe('a client that requires PKCE', () => {
  const strict = { ...confidential, requirePkce: true }

  test('3.27 gets no code without a challenge', async () => {
    const f = await fixture({ clients: [strict] })
    await expect(f.code()).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'The client requires a code_challenge',
      details: { reason: 'plugin:proof-key:challenge_required' },
    })
    const code = await f.code({ codeChallenge: proof.challenge })
    expect((await f.post('token', { ...grant, code }, web)).body.error).toBe('invalid_grant')
    expect((await f.post('token', { ...grant, code, code_verifier: proof.verifier }, web)).status).toBe(200)
  })

  test('3.27 cannot redeem a code that was created without a challenge before', async () => {
    const storage = memoryDriver()
    const before = await fixture({ storage, clients: [{ ...strict, requirePkce: false }] })
    const code = await before.code()
    const after = await fixture({ storage, clients: [strict] })
    expect((await after.post('token', { ...grant, code }, web)).body.error).toBe('invalid_grant')
    expect(lastReason(after)).toBe('plugin:proof-key:challenge_missing')
  })
  test('3.27 cannot start without a plugin that checks it', async () => {
    await expect(fixture({ clients: [strict], plugins: [authorizationCode()] })).rejects.toThrow(
      'requirePkce is not a known option',
    )
  })
})
