/**
 * Attack: an attacker reads the whole store (a backup, an open Redis, the disk of a machine) and tries to use its
 * content as credentials.
 *
 * RFC 6749 section 10.3 and 10.4, RFC 6819 section 5.1.4.1: credentials are stored as hashes only. That the tokens of a
 * retry are derived from the presented token, and that no user name is in a key, is hardening.
 */

import { createHmac } from 'node:crypto'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, proof, redirectUri, spaClientId, web, webJwt } from '../support/fixture.ts'

const password = { grant_type: 'password', scope: 'openid api1 offline_access' }

/**
 * A whole lifecycle: every grant, a refresh that can be retried, a replay, failed passwords. Returns every credential
 * that was used.
 */
async function live(f: Fixture): Promise<Record<string, string>> {
  const codeForm = (code: string) => ({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })
  const unused = await f.code({ nonce: 'nonce-of-the-login' })
  const [code, replayed] = [await f.code(), await f.code({ codeChallenge: proof.challenge })]
  const first = (await f.post('token', codeForm(code), web)).body
  const second = (await f.post('token', { grant_type: 'refresh_token', refresh_token: first.refresh_token }, web)).body
  const form = { ...codeForm(replayed), code_verifier: proof.verifier }
  const third = (await f.post('token', form, web)).body
  await f.post('token', form, web)
  const user = (await f.post('token', { ...password, username: 'alice', password: 'alice-password' }, web)).body
  const jwt = (await f.post('token', { ...password, username: 'bob', password: 'bob-password' }, webJwt)).body
  await f.post('token', { ...password, username: 'carol-unknown', password: 'guessed-password' }, web)
  const machine = (await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web)).body
  const spaCode = await f.code({ clientId: spaClientId, codeChallenge: proof.challenge })
  const page = (await f.post('token', { ...codeForm(spaCode), client_id: spaClientId, code_verifier: proof.verifier }))
    .body
  const responses = { first, second, third, user, jwt, machine, page }
  const credentials: Record<string, string> = { unused, code, replayed, spaCode, verifier: proof.verifier }
  for (const [name, response] of Object.entries(responses)) {
    for (const member of ['access_token', 'refresh_token', 'id_token']) {
      if (response[member] !== undefined) credentials[`${member} of ${name}`] = response[member]
    }
  }
  return {
    ...credentials,
    'client secret': web[1],
    'secret of web-jwt': webJwt[1],
    'scope secret': api1[1],
    'password of alice': 'alice-password',
    'password of bob': 'bob-password',
    'guessed password': 'guessed-password',
  }
}

async function stolen() {
  const storage = memoryDriver()
  const f = await fixture({ storage })
  const credentials = await live(f)
  const items = [...(storage.getInstance?.() ?? [])].map(([key, item]) => [key, JSON.stringify(item)] as const)
  return { f, storage, credentials, items }
}

describe('a stolen store', () => {
  test('contains every kind of record, so the tests below have something to check', async () => {
    const { items, credentials } = await stolen()
    const kinds = new Set(items.map(([key]) => key.slice(0, key.indexOf(':'))))
    const expected = ['access', 'code', 'count', 'known', 'passed', 'refresh', 'replay', 'revision', 'revoked', 'spent']
    expect([...kinds].sort()).toEqual(expected)
    expect(Object.keys(credentials).length).toBeGreaterThan(20)
    for (const [name, value] of Object.entries(credentials)) expect(value.length, name).toBeGreaterThan(9)
  })

  test('has no credential in a key or value, neither in plain text nor in base64, hex or reversed', async () => {
    const { items, credentials } = await stolen()
    const everything = items.flat().join('\n')
    for (const [name, credential] of Object.entries(credentials)) {
      const bytes = Buffer.from(credential)
      for (const form of [credential, bytes.toString('base64url'), bytes.toString('hex'), JSON.stringify(credential)]) {
        expect(everything.includes(form), name).toBe(false)
      }
      expect(everything.includes([...credential].reverse().join('')), name).toBe(false)
    }
  })

  test('has keys of a kind and a hash only: no user, no client, no scope', async () => {
    const { items } = await stolen()
    for (const [key] of items) {
      expect(key).toMatch(
        /^(?:code|refresh|access|replay|revision|revoked|count|failure|known|passed|spent:(?:code|refresh)):[0-9a-f]{64}$/u,
      )
    }
  })

  test('does not name the users whose passwords were guessed', async () => {
    const { items } = await stolen()
    expect(items.flat().join('\n')).not.toContain('carol-unknown')
  })

  test('grants no access with its contents', async () => {
    const { f, items } = await stolen()
    const words = new Set(items.flatMap(([key, value]) => [key, ...key.split(':'), ...value.split(/[^\w\-.]+/u)]))
    const tried = [...words].filter((word) => word.length >= 16 && word.length <= 512)
    expect(tried.length).toBeGreaterThan(items.length)
    for (const word of tried) {
      expect((await f.post('introspection', { token: word }, api1)).body, word).toEqual({ active: false })
      const form = { grant_type: 'authorization_code', code: word, redirect_uri: redirectUri }
      expect((await f.post('token', form, web)).status, word).toBe(400)
      expect((await f.post('token', { grant_type: 'refresh_token', refresh_token: word }, web)).status, word).toBe(400)
    }
  })

  test('derives no token of a retry with anything in it', async () => {
    const { items, credentials } = await stolen()
    const [, replay = ''] = items.find(([key]) => key.startsWith('replay:')) ?? []
    const { nonce } = JSON.parse(JSON.parse(replay).value).value
    const derived = (key: string | Uint8Array): readonly string[] => {
      const bytes = createHmac('sha512', key).update(`grantry retry 1\n${nonce}`).digest()
      return [bytes.subarray(0, 32).toString('base64url'), bytes.subarray(32).toString('base64url')]
    }
    const tokens = [credentials['access_token of second'], credentials['refresh_token of second']]
    const words = new Set(items.flatMap(([key, value]) => [key, ...key.split(':'), ...value.split(/[^\w\-.]+/u)]))
    expect(words.has(nonce)).toBe(true)
    for (const word of words) {
      for (const key of [word, Buffer.from(word, 'hex'), Buffer.from(word, 'base64url')]) {
        for (const token of derived(key)) expect(tokens, word).not.toContain(token)
      }
    }
    // Not even with the spent token: a secret outside the storage is missing.
    for (const token of derived(credentials['refresh_token of first'] ?? '')) expect(tokens).not.toContain(token)
  })
})

test('no event contains a credential', async () => {
  const { f, credentials } = await stolen()
  const everything = JSON.stringify(f.events)
  expect(f.events.length).toBeGreaterThan(20)
  for (const [name, credential] of Object.entries(credentials))
    expect(everything.includes(credential), name).toBe(false)
})
