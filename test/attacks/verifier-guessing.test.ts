/**
 * Attack: an attacker holds a code and guesses verifiers during its lifetime, over many connections and at every server
 * concurrently. Conversely, a caller that is not the code's client tries to end a code with wrong guesses.
 *
 * RFC 7636 section 7.1 relies on the entropy of the verifier. That ten wrong ones end the code is hardening: wire
 * contract, section 3; decision 29.
 */
import type { AtomicDriver } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import {
  api1,
  type Fixture,
  fixture,
  lastReason,
  otherClient,
  proof,
  redirectUri,
  spaClientId,
  web,
} from '../support/fixture.ts'

const notValid = { error: 'invalid_grant', error_description: 'The authorization code is not valid' }

const redeem = (
  f: Fixture,
  code: string,
  verifier: string | undefined,
  as = web,
  more: Record<string, string> = {},
) => {
  const proofForm = verifier === undefined ? {} : { code_verifier: verifier }
  return f.post(
    'token',
    { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...proofForm, ...more },
    as,
  )
}

/** Well-formed, wrong, and all different. */
const guess = (number: number): string => `guess-${number}-`.padEnd(43, 'x')

async function guessed(f: Fixture, code: string, times: number): Promise<void> {
  for (let number = 0; number < times; number += 1) {
    const { status, body } = await redeem(f, code, guess(number))
    expect([status, body]).toEqual([400, notValid])
  }
}

const typesOf = (f: Fixture) => f.events.map(({ type }) => type)
const coded = (f: Fixture) => f.code({ codeChallenge: proof.challenge })

describe('a code with a challenge', () => {
  test('3.62 survives nine wrong verifiers', async () => {
    const f = await fixture()
    const code = await coded(f)
    await guessed(f, code, 9)
    expect((await redeem(f, code, proof.verifier)).status).toBe(200)
    expect(typesOf(f)).not.toContain('code_ended')
  })

  test('3.62 is ended by the tenth: even the right verifier gets invalid_grant, and nothing is revoked', async () => {
    const f = await fixture()
    const code = await coded(f)
    await guessed(f, code, 10)
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const { status, body } = await redeem(f, code, proof.verifier)
      expect([status, body]).toEqual([400, notValid])
      expect(lastReason(f)).toBe('code_ended')
    }
    await guessed(f, code, 3)
    expect(typesOf(f).filter((type) => type === 'code_ended')).toHaveLength(1)
    for (const type of ['code_redeemed', 'code_replayed', 'family_revoked']) expect(typesOf(f)).not.toContain(type)
  })

  test('3.62 is counted separately: another code of the same client stays valid', async () => {
    const f = await fixture()
    const [code, another] = [await coded(f), await coded(f)]
    await guessed(f, code, 10)
    await guessed(f, another, 9)
    expect((await redeem(f, another, proof.verifier)).status).toBe(200)
  })
})

test('3.62 a missing and a malformed verifier count like a wrong one', async () => {
  const f = await fixture()
  const code = await coded(f)
  for (const verifier of [undefined, '', 'short', 'x'.repeat(129), `${proof.verifier}\n`]) {
    for (let time = 0; time < 2; time += 1) expect((await redeem(f, code, verifier)).body).toEqual(notValid)
  }
  expect((await redeem(f, code, proof.verifier)).body).toEqual(notValid)
  expect(lastReason(f)).toBe('code_ended')
})

test('3.62 a public client is protected too', async () => {
  const f = await fixture()
  const code = await f.code({ clientId: spaClientId, codeChallenge: proof.challenge })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, client_id: spaClientId }
  for (let number = 0; number < 10; number += 1) await f.post('token', { ...form, code_verifier: guess(number) })
  expect((await f.post('token', { ...form, code_verifier: proof.verifier })).body).toEqual(notValid)
})

describe('no other caller can end a code', () => {
  test.each<[string, (f: Fixture, code: string) => Promise<unknown>]>([
    ['as another client', (f, code) => redeem(f, code, guess(0), otherClient)],
    ['with a wrong secret', (f, code) => redeem(f, code, guess(0), ['web', 'wrong'])],
    ['with a wrong redirect_uri', (f, code) => redeem(f, code, guess(0), web, { redirect_uri: `${redirectUri}/` })],
    [
      'with a wrong redirect_uri and the right verifier',
      (f, code) => redeem(f, code, proof.verifier, web, { redirect_uri: `${redirectUri}/` }),
    ],
  ])('3.62 %s, however often', async (_, attempt) => {
    const f = await fixture()
    const code = await coded(f)
    for (let time = 0; time < 30; time += 1) await attempt(f, code)
    expect((await redeem(f, code, proof.verifier)).status).toBe(200)
  })

  test('3.62 without a challenge, with verifiers: there is nothing to guess', async () => {
    const f = await fixture()
    const code = await f.code()
    for (let number = 0; number < 30; number += 1) expect((await redeem(f, code, guess(number))).status).toBe(400)
    expect((await redeem(f, code, undefined)).status).toBe(200)
  })

  test('3.62 that was redeemed: wrong verifiers revoke nothing, and the right one is still a replay', async () => {
    const f = await fixture()
    const code = await coded(f)
    const { body } = await redeem(f, code, proof.verifier)
    await guessed(f, code, 30)
    expect((await f.post('introspection', { token: body.access_token }, api1)).body.active).toBe(true)
    expect(typesOf(f)).not.toContain('code_ended')
    await redeem(f, code, proof.verifier)
    expect(lastReason(f)).toBe('code_replayed')
    expect((await f.post('introspection', { token: body.access_token }, api1)).body.active).toBe(false)
  })
})

describe('while the store fails', () => {
  /** Inserts and increments of keys with this prefix fail while `failing` is set. */
  async function failing(prefix: string) {
    const driver = mapDriver(new Map())
    const state = { failing: false }
    const assertWorking = (key: string): void => {
      if (state.failing && key.startsWith(prefix)) throw new Error('the disk is full')
    }
    const storage: AtomicDriver = {
      ...driver,
      async insertItem(key, value, options) {
        assertWorking(key)
        return driver.insertItem(key, value, options)
      },
      async incrementItem(key, options) {
        assertWorking(key)
        return driver.incrementItem(key, options)
      },
    }
    const f = await fixture({ storage })
    return { f, state, code: await coded(f) }
  }

  test('3.62 a guess that cannot be counted is 503, not a refusal', async () => {
    const { f, state, code } = await failing('count:')
    state.failing = true
    expect((await redeem(f, code, guess(0))).status).toBe(503)
    expect((await redeem(f, code, proof.verifier)).status).toBe(200)
  })

  test('3.62 ten guesses that cannot be counted end the code', async () => {
    const { f, state, code } = await failing('count:')
    state.failing = true
    for (let number = 0; number < 10; number += 1) expect((await redeem(f, code, guess(number))).status).toBe(503)
    expect((await redeem(f, code, proof.verifier)).body).toEqual(notValid)
    expect(lastReason(f)).toBe('code_ended')
  })

  test('3.62 guesses that could not be counted are added to those that are', async () => {
    const { f, state, code } = await failing('count:')
    state.failing = true
    for (let number = 0; number < 4; number += 1) expect((await redeem(f, code, guess(number))).status).toBe(503)
    state.failing = false
    await guessed(f, code, 6)
    expect((await redeem(f, code, proof.verifier)).body).toEqual(notValid)
    expect(lastReason(f)).toBe('code_ended')
  })

  test('3.62 a tenth guess that could not end the code is not free: the next one ends it', async () => {
    const { f, state, code } = await failing('spent:')
    await guessed(f, code, 9)
    state.failing = true
    expect((await redeem(f, code, guess(9))).status).toBe(503)
    state.failing = false
    await guessed(f, code, 1)
    expect((await redeem(f, code, proof.verifier)).body).toEqual(notValid)
    expect(lastReason(f)).toBe('code_ended')
  })
})
