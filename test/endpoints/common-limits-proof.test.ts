import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { clients, fixture, proof, redirectUri, web } from '../support/fixture.ts'

const x = (length: number): string => 'x'.repeat(length)
const plain = { clients: [{ ...clients[0], clientId: web[0], allowPlainPkce: true }] }

describe('nonce: 300', () => {
  test('1.38 accepts a nonce of 300 and returns it', async () => {
    const f = await fixture()
    const code = await f.code({ nonce: x(300) })
    const { body } = await f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, web)
    expect(decodeJwt(body.id_token).nonce).toBe(x(300))
  })

  test('1.38 rejects a nonce of 301 when the code is created', async () => {
    const f = await fixture()
    await expect(f.code({ nonce: x(301) })).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

describe('code_challenge and code_verifier: 43 to 128', () => {
  test.each([43, 44, 127, 128])('1.39 accepts a code_challenge and a code_verifier of %i', async (length) => {
    const f = await fixture(plain)
    const code = await f.code({ codeChallenge: x(length), codeChallengeMethod: 'plain' })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: x(length) }
    expect((await f.post('token', form, web)).status).toBe(200)
  })

  test.each([0, 1, 42, 129])('1.39 rejects a code_challenge of %i when the code is created', async (length) => {
    const f = await fixture(plain)
    const start = f.code({ codeChallenge: x(length), codeChallengeMethod: 'plain' })
    await expect(start).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test.each([1, 42, 129])('1.39 rejects a code_verifier of %i without spending the code', async (length) => {
    const f = await fixture()
    const form = { grant_type: 'authorization_code', redirect_uri: redirectUri }
    const code = await f.code({ codeChallenge: proof.challenge })
    const { status, body } = await f.post('token', { ...form, code, code_verifier: x(length) }, web)
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
    expect(f.events.at(-1)).toMatchObject({ reason: 'plugin:proof-key:verifier_malformed' })
    expect((await f.post('token', { ...form, code, code_verifier: proof.verifier }, web)).status).toBe(200)
  })
})
